/** Where lines of the log go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogOptions } from "./flags/contract.ts";
import { type LogOutput, logOutput } from "./log-output.ts";

interface Opened {
  readonly output: LogOutput;
  readonly written: string[];
  /** Lets the time between two flushes pass. */
  readonly tick: () => void;
}

function open(streams: LogOptions["text"], format: LogOptions["format"] = "text"): Opened {
  const written: string[] = [];
  let tick = (): void => {};
  const none = { splitStream: false, infoBufferSize: 0 };
  const options = { format, flushMs: 5, text: none, json: none, [format]: streams };
  const to = (stream: string) => (text: string) => void written.push(`${stream} ${text}`);
  const output = logOutput(options, { out: to("out"), err: to("err") }, (_ms, run) => {
    tick = run;
  });
  return { output, written, tick: () => tick() };
}

function write({ output }: Opened): void {
  output.write("a", "info");
  output.write("b", "warn");
  output.write("c", "error");
}

test("all lines go to standard error", () => {
  const opened = open({ splitStream: false, infoBufferSize: 0 });
  write(opened);
  assert.deepEqual(opened.written, ["err a", "err b", "err c"]);
});

test("with split streams, only errors go to standard error", () => {
  for (const format of ["text", "json"] as const) {
    const opened = open({ splitStream: true, infoBufferSize: 0 }, format);
    write(opened);
    assert.deepEqual(opened.written, ["out a", "out b", "err c"]);
  }
});

test("with a buffer, lines wait for its size, the time, or the end", () => {
  const opened = open({ splitStream: true, infoBufferSize: 3 });
  write(opened);
  assert.deepEqual(opened.written, ["err c"]);
  opened.output.write("de", "info");
  assert.deepEqual(opened.written, ["err c", "out ab"]);
  opened.tick();
  assert.deepEqual(opened.written, ["err c", "out ab", "out de"]);
  opened.output.write("f", "info");
  opened.output.flush();
  opened.output.flush();
  assert.deepEqual(opened.written, ["err c", "out ab", "out de", "out f"]);
});
