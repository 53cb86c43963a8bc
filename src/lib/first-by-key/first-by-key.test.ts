import assert from "node:assert/strict";
import { test } from "node:test";
import { firstByKey } from "./first-by-key.ts";

test("the first entry of each key counts, also an undefined one", () => {
  const entries: [string, number | undefined][] = [
    ["a", 1],
    ["b", undefined],
    ["a", 2],
    ["b", 3],
  ];
  assert.deepEqual(
    [...firstByKey(entries)],
    [
      ["a", 1],
      ["b", undefined],
    ],
  );
});
