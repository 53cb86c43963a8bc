import assert from "node:assert/strict";
import { test } from "node:test";
import { type ProgressBar, progressBar } from "./progress-bar.ts";

function open(errIsTerminal: boolean): { bar: ProgressBar; written: () => string; pass(ms: number): void } {
  let text = "";
  let nowMs = 0;
  const err = (piece: string): void => {
    text += piece;
  };
  const bar = progressBar({ out: err, err, errIsTerminal }, () => nowMs);
  return {
    bar,
    written: () => text,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

test("work of less than a second has no bar", () => {
  for (const isTerminal of [true, false]) {
    const { bar, written, pass } = open(isTerminal);
    bar.show("Copying", 0, 100);
    pass(900);
    bar.show("Copying", 100, 100);
    bar.end();
    assert.equal(written(), "");
  }
});

test("a terminal has one line that replaces itself, and is removed at the end", () => {
  const { bar, written, pass } = open(true);
  bar.show("Copying", 0, 100);
  pass(1000);
  bar.show("Copying", 50, 100);
  bar.show("Copying", 51, 100); // Too soon.
  pass(200);
  bar.show("Copying", 100, 100);
  bar.end();
  bar.end();
  assert.deepEqual(written().split("\r\x1b[K"), [
    "",
    `Copying [${"#".repeat(15)}${" ".repeat(15)}] 50% 50/100, 50/s`,
    `Copying [${"#".repeat(30)}] 100% 100/100, 83/s`,
    "",
  ]);
});

test("elsewhere there is a line every five seconds", () => {
  const { bar, written, pass } = open(false);
  for (let done = 0; done <= 12; done++) {
    bar.show("Reading", done * 2 ** 20, 12 * 2 ** 20, "bytes");
    pass(1000);
  }
  bar.end();
  assert.equal(written(), "Reading 41% of 12 MiB, 1.0 MiB/s\nReading 83% of 12 MiB, 1.0 MiB/s\n");
});

test("an urgent line is shown at once, and stays", () => {
  for (const [isTerminal, expected] of [
    [true, "\r\x1b[KContinuing\n"],
    [false, "Continuing\n"],
  ] as const) {
    const { bar, written } = open(isTerminal);
    bar.line("Following");
    bar.line("Continuing", { isUrgent: true });
    bar.end();
    assert.equal(written(), expected);
  }
});

test("nothing of nothing is all of it", () => {
  const { bar, written, pass } = open(false);
  pass(5000);
  bar.show("Copying", 0, 0);
  assert.equal(written(), "Copying 100% 0/0, 0/s\n");
});

test("the clock is that of the process by default", () => {
  assert.doesNotThrow(() => progressBar({ out() {}, err() {} }).show("Copying", 0, 1));
});
