/**
 * Guarantees: turns of one key run one at a time in the order of `enter` calls; turns of different
 * keys do not wait for each other.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openTurns } from "./turns.ts";

test("turns of one key run in order, also after a failure, and those of other keys do not wait", async () => {
  const turns = openTurns();
  const order: string[] = [];
  const turn = async (key: string, name: string, fails = false): Promise<void> => {
    const leave = await turns.enter(key);
    try {
      order.push(`${name} begins`);
      await new Promise(setImmediate);
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
    } finally {
      leave();
    }
  };
  await Promise.allSettled([turn("k", "a"), turn("k", "b", true), turn("k", "c"), turn("other", "x")]);
  await turn("k", "d");
  assert.deepEqual(order.slice(0, 2), ["a begins", "x begins"].toSorted());
  assert.deepEqual(
    order.filter((one) => !one.startsWith("x")),
    ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends", "d begins", "d ends"],
  );
});
