import assert from "node:assert/strict";
import { test } from "node:test";
import { beginInTurns } from "./begin-in-turns.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("begins 32 items in a turn, and the rest in the next turns in their order", async () => {
  const begun: number[] = [];
  const begin = beginInTurns<[number]>(
    (item) => begun.push(item),
    () => false,
  );
  for (let item = 0; item < 70; item++) begin(item);
  assert.equal(begun.length, 32);
  await turn();
  begin(70);
  assert.equal(begun.length, 64);
  await turn();
  assert.deepEqual(
    begun,
    Array.from({ length: 71 }, (_, item) => item),
  );
});

test("skips items that are over before their turn", async () => {
  const begun: number[] = [];
  const begin = beginInTurns<[number]>(
    (item) => begun.push(item),
    (item) => item < 99,
  );
  for (let item = 0; item < 100; item++) begin(item);
  await turn();
  assert.deepEqual(begun.slice(32), [99]);
});
