import assert from "node:assert/strict";
import { test } from "node:test";
import { passTurns, turnsUntil } from "../../test/support/pass-turns.ts";
import type { Decision } from "../registry/contract.ts";
import { openWorkQueue, type WorkQueue } from "./work-queue.ts";

/** A queue whose clock and reconciliations the test controls. */
function harness({ decide, ...options }: { concurrency?: number; keysMax?: number; decide?: () => Decision } = {}) {
  const runs: string[] = [];
  const delays: number[] = [];
  const timers: (() => void)[] = [];
  const errors: unknown[] = [];
  const results = new Map<string, ((done: boolean | Error) => void)[]>();
  const queue: WorkQueue = openWorkQueue({
    registry: {
      clock: {
        now: () => 0,
        after(delayMs, run) {
          delays.push(delayMs);
          timers.push(run);
          return () => timers.splice(timers.indexOf(run), 1);
        },
      },
      ...(decide && { decide }),
    },
    reconcile: (key) => {
      runs.push(key);
      return new Promise((resolve, reject) => {
        const settle = (done: boolean | Error): void => (done instanceof Error ? reject(done) : resolve(done));
        results.set(key, [...(results.get(key) ?? []), settle]);
      });
    },
    failed: (_key, error) => errors.push(error),
    concurrency: options.concurrency ?? 2,
    keysMax: options.keysMax ?? 10,
    firstDelayMs: 100,
    delayMaxMs: 300,
  });
  const settle = async (key: string, done: boolean | Error): Promise<void> => {
    results.get(key)?.shift()?.(done);
    await passTurns(2); // Until the next run has begun.
  };
  return { queue, runs, delays, timers, errors, settle };
}

test("reconciles a key one at a time, and again when it was added during the run", async () => {
  const { queue, runs, settle } = harness();
  queue.add("a");
  await passTurns(1);
  queue.add("a");
  queue.add("a");
  assert.deepEqual(runs, ["a"]);
  await settle("a", true);
  assert.deepEqual(runs, ["a", "a"]);
  await settle("a", true);
  queue.add("a");
  await passTurns(1);
  assert.deepEqual(runs, ["a", "a", "a"]);
});

test("starts in the next turn, after what was done in this one", async () => {
  const { queue, runs } = harness();
  queue.add("a");
  await Promise.resolve();
  assert.deepEqual(runs, []);
  await passTurns(1);
  assert.deepEqual(runs, ["a"]);
});

test("limits concurrency", async () => {
  const { queue, runs, settle } = harness({ concurrency: 1 });
  queue.add("a");
  queue.add("b");
  await passTurns(1);
  assert.deepEqual(runs, ["a"]);
  await settle("a", true);
  assert.deepEqual(runs, ["a", "b"]);
});

test("retries with exponential backoff after a result of false or an error", async () => {
  const { queue, runs, delays, timers, errors, settle } = harness();
  queue.add("a");
  await passTurns(1);
  for (const result of [false, new Error("no"), false, false]) {
    await settle("a", result);
    timers.shift()?.();
    await passTurns(1);
  }
  assert.deepEqual(delays, [100, 200, 300, 300]);
  assert.equal(runs.length, 5);
  assert.equal(errors.length, 1);
});

test("adding a key that waits for a retry reconciles it in the next turn", async () => {
  const { queue, runs, timers, settle } = harness();
  queue.add("a");
  await passTurns(1);
  await settle("a", false);
  queue.add("a");
  await passTurns(1);
  assert.deepEqual(runs, ["a", "a"]);
  assert.equal(timers.length, 0);
});

test("a full queue rejects keys", () => {
  const { queue } = harness({ keysMax: 1 });
  assert.equal(queue.add("a"), true);
  assert.equal(queue.add("a"), true);
  assert.equal(queue.add("b"), false);
});

test("stop waits for running reconciliations and discards the rest", async () => {
  const { queue, runs, settle } = harness({ concurrency: 1 });
  queue.add("a");
  queue.add("b");
  await passTurns(1);
  let stopped = false;
  const stopping = queue.stop().then(() => (stopped = true));
  await new Promise(setImmediate);
  assert.equal(stopped, false);
  await settle("a", false);
  await stopping;
  assert.deepEqual(runs, ["a"]);
  assert.equal(queue.add("c"), false);
});

test("reconciliations that do not wait yield to the event loop", async () => {
  let runs = 0;
  const queue = openWorkQueue({
    registry: { clock: { now: () => 0, after: () => () => {} } },
    reconcile: async () => {
      runs += 1;
      return true;
    },
    failed() {},
    concurrency: 4,
    keysMax: 10_000,
    firstDelayMs: 1,
    delayMaxMs: 1,
  });
  for (let key = 0; key < 1_000; key++) queue.add(String(key));
  const othersRan = await turnsUntil(() => runs === 1_000);
  assert.ok(othersRan >= 5, `others ran ${othersRan} times`);
  await queue.stop();
});

test("reconciles a key again at once when the state was replaced during its run, whatever the outcome", async () => {
  let [state, decisions] = [0, 0];
  const decide = (): Decision => {
    const since = state;
    decisions += 1;
    return { isCurrent: () => state === since, check() {} };
  };
  const { queue, runs, delays, errors, settle } = harness({ decide });
  queue.add("a");
  await passTurns(1);
  for (const outcome of [true, false, new Error("conflict")]) {
    state += 1;
    await settle("a", outcome);
  }
  assert.deepEqual([runs, decisions, errors, delays], [["a", "a", "a", "a"], 4, [], []]);
  await settle("a", false);
  assert.deepEqual([runs.length, delays], [4, [100]]);
  await queue.stop();
});
