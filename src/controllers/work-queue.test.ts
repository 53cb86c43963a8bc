import assert from "node:assert/strict";
import { test } from "node:test";
import { openWorkQueue, type WorkQueue } from "./work-queue.ts";

/** A queue whose clock and whose looks the test drives. */
function harness(options: { concurrency?: number; keysMax?: number } = {}) {
  const looks: string[] = [];
  const delays: number[] = [];
  const timers: (() => void)[] = [];
  const errors: unknown[] = [];
  const results = new Map<string, ((done: boolean | Error) => void)[]>();
  const queue: WorkQueue = openWorkQueue({
    clock: {
      now: () => 0,
      after(delayMs, run) {
        delays.push(delayMs);
        timers.push(run);
        return () => timers.splice(timers.indexOf(run), 1);
      },
    },
    reconcile: (key) => {
      looks.push(key);
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
    await new Promise(setImmediate);
  };
  return { queue, looks, delays, timers, errors, settle };
}

test("a key is looked at once at a time, and again when it was added meanwhile", async () => {
  const { queue, looks, settle } = harness();
  queue.add("a");
  queue.add("a");
  queue.add("a");
  assert.deepEqual(looks, ["a"]);
  await settle("a", true);
  assert.deepEqual(looks, ["a", "a"]);
  await settle("a", true);
  queue.add("a");
  assert.deepEqual(looks, ["a", "a", "a"]);
});

test("no more keys at once than allowed", async () => {
  const { queue, looks, settle } = harness({ concurrency: 1 });
  queue.add("a");
  queue.add("b");
  assert.deepEqual(looks, ["a"]);
  await settle("a", true);
  assert.deepEqual(looks, ["a", "b"]);
});

test("what is not done is looked at again, later each time up to a limit, and an error counts as not done", async () => {
  const { queue, looks, delays, timers, errors, settle } = harness();
  queue.add("a");
  for (const result of [false, new Error("no"), false, false]) {
    await settle("a", result);
    timers.shift()?.();
  }
  assert.deepEqual(delays, [100, 200, 300, 300]);
  assert.equal(looks.length, 5);
  assert.equal(errors.length, 1);
});

test("adding a key that waits looks at it at once", async () => {
  const { queue, looks, timers, settle } = harness();
  queue.add("a");
  await settle("a", false);
  queue.add("a");
  assert.deepEqual(looks, ["a", "a"]);
  assert.equal(timers.length, 0);
});

test("a full queue refuses", () => {
  const { queue } = harness({ keysMax: 1 });
  assert.equal(queue.add("a"), true);
  assert.equal(queue.add("a"), true);
  assert.equal(queue.add("b"), false);
});

test("stopping waits for what is under way and forgets the rest", async () => {
  const { queue, looks, settle } = harness({ concurrency: 1 });
  queue.add("a");
  queue.add("b");
  let stopped = false;
  const stopping = queue.stop().then(() => (stopped = true));
  await new Promise(setImmediate);
  assert.equal(stopped, false);
  await settle("a", false);
  await stopping;
  assert.deepEqual(looks, ["a"]);
  assert.equal(queue.add("c"), false);
});

test("looks that wait for nothing let others run", async () => {
  let looks = 0;
  let othersRan = 0;
  const queue = openWorkQueue({
    clock: { now: () => 0, after: () => () => {} },
    reconcile: async () => {
      looks += 1;
      return true;
    },
    failed() {},
    concurrency: 4,
    keysMax: 10_000,
    firstDelayMs: 1,
    delayMaxMs: 1,
  });
  for (let key = 0; key < 1_000; key++) queue.add(String(key));
  for (; looks < 1_000; othersRan++) await new Promise(setImmediate);
  assert.ok(othersRan >= 5, `others ran ${othersRan} times`);
  await queue.stop();
});
