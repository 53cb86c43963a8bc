import assert from "node:assert/strict";
import { test } from "node:test";
import { warningHeaders } from "./warning-headers.ts";

const numbered = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, "x"));

/** Warnings, how many headers they make, and one of them. */
const rows: readonly (readonly [
  what: string,
  warnings: readonly string[],
  count: number,
  at?: number,
  header?: string,
])[] = [
  ["none", [], 0],
  ["each once, in order", ["a", "b", "a"], 2, 1, '299 - "b"'],
  ["quotes and backslashes", ['unknown field "a\\b"'], 1, 0, String.raw`299 - "unknown field \"a\\b\""`],
  ["bytes of UTF-8", ["é"], 1, 0, '299 - "\u00c3\u00a9"'],
  ["no control characters", ["a\nb", "a\u0085b", "", "c"], 1, 0, '299 - "c"'],
  ["as long as all may be together", numbered(4, 1024), 4, 3, `299 - "3${"x".repeat(1023)}"`],
  ["cut, when they are longer", numbered(5, 1024), 5, 4, `299 - "4${"x".repeat(255)}"`],
  ["no more than the total when cut", numbered(40, 1024), 16, 15, `299 - "15${"x".repeat(254)}"`],
  ["one that is too long", ["y".repeat(5000)], 1, 0, `299 - "${"y".repeat(256)}"`],
  [
    "all that came before the one too many",
    [...numbered(2000, 4).slice(0, 1000), "z".repeat(200), "last"],
    1001,
    1000,
    `299 - "${"z".repeat(200)}"`,
  ],
];

test("formats warnings within upstream's limits", () => {
  for (const [what, warnings, count, at, header] of rows) {
    const headers = warningHeaders(warnings);
    assert.equal(headers.length, count, what);
    if (at !== undefined) assert.equal(headers[at], header, what);
  }
});
