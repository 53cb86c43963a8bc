import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeOrders } from "./merge-orders.ts";

const rows: [title: string, lists: string, want: string][] = [
  ["no lists", "", ""],
  ["one list, as it is", "b a c", "b a c"],
  ["a list that has all", "b c|a b c", "a b c"],
  ["sorts names whose order nothing decides", "a c|b c", "a b c"],
  ["keeps the order of each list", "z m|m a", "z m a"],
  ["interleaves", "d b|c b a", "c d b a"],
  ["sorts all names of lists that contradict each other", "b a x|a b y", "a b x y"],
  ["takes the first complete list although others contradict it", "b a|a b", "b a"],
  ["a list with a name twice is not complete", "a a|b", "a b"],
  ["names like __proto__", "__proto__ a|constructor a", "__proto__ constructor a"],
];
for (const [title, lists, want] of rows) {
  test(`merges orders: ${title}`, () => {
    const parsed = lists.split("|").map((list) => list.split(" ").filter((name) => name !== ""));
    assert.equal(mergeOrders(parsed).join(" "), want);
  });
}
