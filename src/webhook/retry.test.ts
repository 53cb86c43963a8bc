/** Which errors are retried, and the delays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { untilAborted } from "../request/lifetime.ts";
import { WebhookError } from "./contract.ts";
import { withBackoff } from "./retry.ts";

const answered = (code: number, reason: string, retryAfterSeconds = 0): WebhookError =>
  new WebhookError("status", reason, { code, reason, retryAfterSeconds, isSent: false });

const rows: [what: string, error: Error, tries: number][] = [
  ["a reset connection", new WebhookError("reset", "x"), 5],
  ["500", answered(500, "InternalError"), 5],
  ["504", answered(504, "Timeout"), 5],
  ["429", answered(429, "TooManyRequests"), 5],
  ["503 with Retry-After", answered(503, "ServiceUnavailable", 1), 5],
  ["503", answered(503, "ServiceUnavailable"), 1],
  ["a failed connection", new WebhookError("connect", "x"), 1],
  ["a timeout", new WebhookError("timeout", "x"), 1],
  ["403", answered(403, "Forbidden"), 1],
  ["an internal error", new TypeError("x"), 1],
];

for (const [what, error, want] of rows) {
  test(`${what}: ${want} tries`, async () => {
    let tries = 0;
    const call = (): Promise<never> => {
      tries++;
      return Promise.reject(error);
    };
    await assert.rejects(withBackoff({ initialDelayMs: 0 }, call), error);
    assert.equal(tries, want);
  });
}

test("delays grow by 1.5 and have up to 20 % jitter", async () => {
  const pauses: number[] = [];
  const clock = {
    now: () => 0,
    after(ms: number, run: () => void): () => void {
      pauses.push(Math.round(ms));
      queueMicrotask(run);
      return () => {};
    },
  };
  await assert.rejects(
    withBackoff({ initialDelayMs: 500, clock, random: () => 0.5 }, () =>
      Promise.reject(new WebhookError("reset", "x")),
    ),
  );
  assert.deepEqual(pauses, [550, 825, 1238, 1856]);
});

test("returns the first success; an abort ends the delay", async () => {
  let tries = 0;
  assert.equal(
    await withBackoff({ initialDelayMs: 0 }, async () =>
      ++tries < 3 ? Promise.reject(new WebhookError("reset", "x")) : tries,
    ),
    3,
  );
  const controller = new AbortController();
  const pending = withBackoff({ initialDelayMs: 1e6, lifetime: untilAborted(controller.signal) }, () =>
    Promise.reject(new WebhookError("reset", "x")),
  );
  setImmediate(() => controller.abort());
  await assert.rejects(pending, { kind: "reset" });
});
