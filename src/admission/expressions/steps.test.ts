import assert from "node:assert/strict";
import { test } from "node:test";
import { runSteps, type Steps, wait } from "./steps.ts";

function* add(values: readonly (number | Promise<number>)[]): Steps<number> {
  let sum = 0;
  for (const value of values) sum += value instanceof Promise ? yield* wait(value) : value;
  if (sum < 0) throw new Error("negative");
  return sum;
}

test("steps that wait for nothing return their result, or throw", () => {
  assert.equal(runSteps(add([1, 2])), 3);
  assert.throws(() => runSteps(add([-1])), /negative/);
});

test("steps that wait return a promise, which rejects with their error", async () => {
  assert.equal(await runSteps(add([1, Promise.resolve(2), 3, Promise.resolve(4)])), 10);
  await assert.rejects(async () => runSteps(add([Promise.resolve(-1)])), /negative/);
});

test("steps can catch the error of a promise that they wait for", async () => {
  function* recover(): Steps<string> {
    try {
      return yield* wait(Promise.reject<string>(new Error("late")));
    } catch (error) {
      return (error as Error).message;
    }
  }
  assert.equal(await runSteps(recover()), "late");
});
