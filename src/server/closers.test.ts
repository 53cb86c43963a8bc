import assert from "node:assert/strict";
import { test } from "node:test";
import { Closers } from "./closers.ts";

test("the last is closed first, each after the one before, and all of them although one fails", async () => {
  const closers = new Closers();
  const seen: string[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    closers.add(async () => {
      seen.push(`${name} begins`);
      await new Promise(setImmediate);
      seen.push(name);
      if (name === "b" || name === "c") throw new Error(name);
    });
  }
  await assert.rejects(closers.close(), /^Error: c$/);
  assert.deepEqual(seen, ["d begins", "d", "c begins", "c", "b begins", "b", "a begins", "a"]);
  await closers.close();
  assert.equal(seen.length, 8);
});
