import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyCache } from "./key-cache.ts";

type Step = [call: "get" | "set" | "load", id: string, key?: string];

/** What is done with a cache of three keys, and which keys it has then. A key that is loaded and not given fails. */
const rows: [what: string, steps: Step[], left: string][] = [
  ["a fourth key", [["set", "d", "d"]], "b c d"],
  [
    "a key that is read",
    [
      ["get", "a"],
      ["set", "d", "d"],
    ],
    "a c d",
  ],
  [
    "a key that is set again",
    [
      ["set", "a", "a"],
      ["set", "d", "d"],
    ],
    "a c d",
  ],
  [
    "a key that is replaced",
    [
      ["set", "a", "A"],
      ["set", "d", "d"],
    ],
    "A c d",
  ],
  ["a key that is loaded", [["load", "d", "d"]], "b c d"],
  ["a key that cannot be loaded", [["load", "d"]], "a b c"],
];
for (const [what, steps, left] of rows)
  test(`keeps the keys that were used last: ${what}`, async () => {
    const sizes: number[] = [];
    const cache = new KeyCache<string>(3, (size) => sizes.push(size));
    for (const id of ["a", "b", "c"]) cache.set(id, id);
    for (const [call, id, key] of steps) {
      if (call === "get") cache.get(id);
      else if (call === "load") await cache.load(id, async () => key ?? assert.fail("not there"));
      else cache.set(id, key ?? id);
    }
    const kept = ["a", "b", "c", "d"].map((id) => cache.get(id)).filter((key) => key !== undefined);
    assert.equal(kept.join(" "), left);
    assert.ok(Math.max(...sizes) <= 3, String(sizes));
  });

test("says why a key cannot be loaded, and loads it once for all that wait", async () => {
  const cache = new KeyCache<string>(3, () => {});
  const answer = Promise.withResolvers<string>();
  let calls = 0;
  const load = (): Promise<string> => {
    calls++;
    return answer.promise;
  };
  const both = [cache.load("a", load), cache.load("a", load)];
  answer.reject(new Error("not there"));
  await Promise.all(both);
  assert.deepEqual([calls, cache.get("a"), cache.failure("a").message], [1, undefined, "not there"]);
});
