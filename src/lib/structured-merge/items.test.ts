import assert from "node:assert/strict";
import { test } from "node:test";
import { elementsOf, hasSameElements, itemsByElement, KnownElements } from "./items.ts";
import type { List } from "./schema.ts";

const set: List = { kind: "list", items: { kind: "string" }, listType: "set", mapKeys: [] };

const rows: [what: string, left: readonly unknown[], right: readonly unknown[], expected: boolean][] = [
  ["equal lists", ["a", "b"], ["a", "b"], true],
  ["equal lists with duplicates", ["a", "a"], ["a", "a"], true],
  ["another order", ["a", "b"], ["b", "a"], false],
  ["one item more", ["a"], ["a", "b"], false],
];

for (const [what, left, right, expected] of rows)
  test(`${what}: ${expected ? "pairs" : "no pairs"}`, () => {
    assert.equal(hasSameElements(elementsOf(set, left), elementsOf(set, right)), expected);
  });

const map: List = { kind: "list", items: { kind: "any", definition: "" }, listType: "map", mapKeys: ["name"] };
const named = (names: string, value: string): object[] => [...names].map((name) => ({ name, value }));

test("an item that differs has no pair when its element occurs again", () => {
  for (const names of ["abc", "abcdefgh"]) {
    const before = named(names, "x");
    const isPair = (items: readonly unknown[], others: readonly unknown[]): boolean =>
      hasSameElements(elementsOf(map, items), elementsOf(map, others));
    assert.equal(isPair(before, named(names, "y")), true, names);
    assert.equal(isPair([...before, ...named("a", "z")], named(`${names}a`, "y")), false, names);
    assert.equal(isPair([...before, ...named("a", "z")], [...before, ...named("a", "y")]), false, names);
  }
});

test("shared items have the elements of the other state", () => {
  const before = elementsOf(map, named("ab", "x"));
  const after = elementsOf(map, [before.items[0], { name: "c" }], before);
  assert.deepEqual(after.elements, ['k:{"name":"a"}', 'k:{"name":"c"}']);
});

test("duplicates are items of one element, in order", () => {
  const items = [...named("a", "x"), ...named("b", "x"), ...named("a", "y")];
  assert.deepEqual(
    [...itemsByElement(elementsOf(map, items))],
    [
      ['k:{"name":"a"}', [items[0], items[2]]],
      ['k:{"name":"b"}', [items[1]]],
    ],
  );
});

test("known elements are those of the same list and type", () => {
  const known = new KnownElements();
  const items = ["a"];
  known.set(set, items, ["known"]);
  assert.deepEqual(known.of(set, items).elements, ["known"]);
  assert.deepEqual(known.of({ ...set }, items).elements, ['v:"a"']);
  assert.deepEqual(known.of(set, ["a"]).elements, ['v:"a"']);
});
