import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.ts";

/** Keeps the event loop busy. */
function block(ms: number): void {
  // own wait: it is the work of others that delays the checks
  for (const end = performance.now() + ms; performance.now() < end; );
}

test("time in which no check can run does not count", async () => {
  // own wait: it is the work of others that delays the checks
  const busy = setInterval(() => block(60), 1);
  let checks = 0;
  try {
    // Each pause takes as long as the work of others, so that few checks would fit into the time.
    await eventually(() => ++checks >= 6, { timeoutMs: 100, intervalMs: 1 });
  } finally {
    clearInterval(busy);
  }
});

test("the time of the checks counts", async () => {
  let checks = 0;
  const slow = (): boolean => {
    checks++;
    block(60);
    return false;
  };
  await assert.rejects(eventually(slow, { timeoutMs: 100, intervalMs: 1 }), /did not pass within 100 ms/);
  assert.ok(checks <= 3, `${checks} checks`);
});

test("needs a function", async () => {
  await assert.rejects(eventually(true as never), {
    name: "TypeError",
    message: "eventually needs a function that checks something",
  });
});
