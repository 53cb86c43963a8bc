import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { goldenRows } from "../../test/support/golden-directory.ts";
import { RetryAfter } from "./retry-after.ts";

interface Row {
  /** Seconds of the rejections. */
  readonly dropped: readonly number[];
  readonly retryAfter: number;
}

test("chooses the times of upstream's tests", async () => {
  const rows = await goldenRows<Row>(join(import.meta.dirname, "testdata/dropped.jsonl"));
  for (const { dropped, retryAfter } of rows) {
    const tracker = new RetryAfter();
    let seconds = 0;
    for (const second of dropped) seconds = tracker.reject(1_000_000 + second);
    assert.equal(seconds, retryAfter, JSON.stringify(dropped));
  }
});

test("never asks to wait longer than 32 seconds", () => {
  const tracker = new RetryAfter();
  let longest = 0;
  for (let second = 0; second < 500; second++)
    for (let request = 0; request < 200; request++) longest = Math.max(longest, tracker.reject(second));
  assert.equal(longest, 32);
});
