import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "./logger.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function logged(format: "text" | "json", values?: Record<string, unknown>): string {
  let written = "";
  const write = (line: string): void => {
    written += line;
  };
  createLogger({ format, now: () => now, write }).warn('a "quoted" message', values);
  return written;
}

const process7 = String(process.pid).padStart(7);
const rows: [what: string, format: "text" | "json", values: Record<string, unknown> | undefined, want: string][] = [
  ["text", "text", undefined, `W0102 03:04:05.678000 ${process7}] "a \\"quoted\\" message"\n`],
  [
    "text with values",
    "text",
    { a: "x\ny", n: 1, big: 2n ** 60n },
    `W0102 03:04:05.678000 ${process7}] "a \\"quoted\\" message" a="x\\ny" n=1 big="1152921504606846976"\n`,
  ],
  [
    "JSON",
    "json",
    { a: [1], none: undefined },
    `{"ts":${now},"caller":"logger.test.ts:12","severity":"warn","msg":"a \\"quoted\\" message","v":0,"a":[1]}\n`,
  ],
];
for (const [what, format, values, want] of rows) {
  test(`logger: ${what}`, () => assert.equal(logged(format, values), want));
}

test("logger: an error is written with its stack, on one line", () => {
  const line = logged("text", { err: new Error("broken") });
  assert.match(line, /err="Error: broken\\n {4}at /);
  assert.equal(line.split("\n").length, 2);
});
