import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { startCompactor } from "./compactor.ts";

test("compacts each interval to the revision that was newest an interval before, and retries after a failure", async () => {
  const clock = manualClock();
  let newest = 10;
  let broken = false;
  const seen: string[] = [];
  const stop = startCompactor({
    clock,
    intervalMs: 1000,
    storage: {
      current: async () => newest,
      async compact(revision) {
        if (broken) throw new Error("no space");
        seen.push(`store ${revision}`);
      },
    },
    compacted: (revision) => seen.push(`caches ${revision}`),
    failed: (error) => seen.push(String(error)),
  });
  const steps: [revision: number, isBroken: boolean, want: string[]][] = [
    [20, false, []],
    [30, false, ["store 20", "caches 20"]],
    [30, false, ["store 30", "caches 30"]],
    [40, true, ["Error: no space"]],
    [50, false, ["store 30", "caches 30"]],
    [60, false, ["store 50", "caches 50"]],
  ];
  for (const [revision, isBroken, want] of steps) {
    [newest, broken] = [revision, isBroken];
    seen.length = 0;
    clock.advance(999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seen, []);
    clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(seen, want, `at ${revision}`);
  }
  stop();
  clock.advance(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(seen.length, 2);
});
