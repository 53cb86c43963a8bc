import assert from "node:assert/strict";
import { test } from "node:test";
import type { Exchange } from "../request/exchange.ts";
import { blockLogger } from "./loop-watch.ts";

test("logs one block each minute, and counts the others", () => {
  let now = 0;
  const lines: unknown[] = [];
  const log = blockLogger({ warn() {}, error() {}, info: (...line) => lines.push(line) }, () => now);
  const exchange = { method: "GET", target: `/${"a".repeat(300)}?token=secret` } as Exchange;
  for (const at of [0, 1, 59_999, 60_000, 120_000]) {
    now = at;
    log({ blockedMs: 300.4, exchange: at === 120_000 ? undefined : exchange });
  }
  const message = "Event loop was blocked";
  const request = { method: "GET", path: `/${"a".repeat(199)}` };
  assert.deepEqual(lines, [
    [message, { blockedMs: 300, ...request }],
    [message, { blockedMs: 300, ...request, othersSinceLastLog: 2 }],
    [message, { blockedMs: 300 }],
  ]);
});
