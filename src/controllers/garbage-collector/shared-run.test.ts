import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedRun } from "./shared-run.ts";

test("calls during a run share the next run, also after a failed one", async () => {
  let runs = 0;
  const ends: ((error?: Error) => void)[] = [];
  const call = sharedRun(() => {
    const run = ++runs;
    return new Promise<number>((resolve, reject) =>
      ends.push((error) => (error === undefined ? resolve(run) : reject(error))),
    );
  });
  const first = call();
  await new Promise(setImmediate);
  const others = [call(), call(), call()];
  ends[0]?.(new Error("first"));
  await assert.rejects(first, /first/);
  await new Promise(setImmediate);
  ends[1]?.();
  assert.deepEqual(await Promise.all(others), [2, 2, 2]);
});
