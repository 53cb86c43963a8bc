import assert from "node:assert/strict";
import { test } from "node:test";
import { Pauses } from "../../lib/pauses.ts";

test("evaluations pause after 5 ms, and other work runs in the pause", async () => {
  let now = 0;
  const pauses = new Pauses(() => now);
  now = 4;
  assert.equal(pauses.isDue(), false);
  now = 5;
  assert.equal(pauses.isDue(), true);
  const pause = pauses.pause();
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  await pause;
  await new Promise(setImmediate);
  assert.equal(hasRun, true);
  assert.equal(pauses.isDue(), false);
});
