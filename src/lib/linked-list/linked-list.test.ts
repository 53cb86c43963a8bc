import assert from "node:assert/strict";
import { test } from "node:test";
import { LinkedList } from "./linked-list.ts";

test("a list keeps the order of arrival when members leave", () => {
  const removals: readonly (readonly [string, readonly number[], string])[] = [
    ["none", [], "abcd"],
    ["the first", [0], "bcd"],
    ["the last", [3], "abc"],
    ["the middle", [1, 2], "ad"],
    ["all", [3, 0, 2, 1], ""],
  ];
  for (const [what, indexes, left] of removals) {
    const list = new LinkedList<string>();
    const members = [..."abcd"].map((value) => list.add(value));
    for (const index of indexes) list.remove(members[index] as (typeof members)[number]);
    assert.equal([...list].join(""), left, what);
    assert.equal(list.size, left.length, what);
    list.add("e");
    assert.equal([...list].join(""), `${left}e`, what);
  }
});

test("the current member may leave during an iteration", () => {
  const list = new LinkedList<number>();
  const members = [0, 1, 2].map((value) => list.add(value));
  const seen: number[] = [];
  for (const value of list) {
    seen.push(value);
    list.remove(members[value] as (typeof members)[number]);
  }
  assert.deepEqual([seen, list.size], [[0, 1, 2], 0]);
});

test("a member that has left refers to no other", () => {
  const list = new LinkedList<string>();
  const [first, second] = [list.add("a"), list.add("b")];
  list.remove(first);
  assert.deepEqual(Object.values(first), ["a", undefined, undefined]);
  assert.deepEqual([...list], [second.value]);
});
