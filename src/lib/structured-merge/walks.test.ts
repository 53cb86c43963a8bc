/**
 * The single walks: compare, merge, extract, remove and field sets, also with deep and unusual
 * input.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "./compare.ts";
import { fieldSetOf } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "./fields-v1.ts";
import { merge } from "./merge.ts";
import { extractItems, removeItems } from "./remove.ts";
import { pathSetOf } from "./set.ts";
import { path, pathTexts } from "./testing/driver.ts";
import { any, atomicList, goStruct, int, keyed, map, scalar, set, string, struct } from "./testing/schemas.ts";
import { depthMax, type PlainMap, TypedError } from "./typed.ts";
import { validateIntent } from "./validate.ts";

const schema = struct({
  text: string,
  number: int,
  labels: map(string),
  frozen: map(string, { atomic: true }),
  set: set(string),
  atomic: atomicList(string),
  list: keyed(["name"], struct({ name: string, value: int, tags: set(string) })),
  either: scalar("intOrString"),
  raw: any,
});

const comparisons: [
  what: string,
  left: PlainMap,
  right: PlainMap,
  changes: { added?: string[]; removed?: string[]; modified?: string[] },
][] = [
  ["equal objects", { text: "x", list: [{ name: "a" }] }, { list: [{ name: "a" }], text: "x" }, {}],
  [
    "leaves added, removed and modified",
    { text: "x", number: 1 },
    { text: "y", either: 1 },
    { added: ["either"], removed: ["number"], modified: ["text"] },
  ],
  ["null against a value", { text: null }, { text: "x" }, { modified: ["text"] }],
  ["a value against null", { text: "x" }, { text: null }, { modified: ["text"] }],
  ["null is added", {}, { text: null }, { added: ["text"] }],
  ["null against an empty map", { labels: null }, { labels: {} }, { modified: ["labels"] }],
  ["null against a map", { labels: null }, { labels: { a: "1" } }, { added: ["labels.a"] }],
  ["an empty map is added", {}, { labels: {} }, { added: ["labels"] }],
  ["an empty map is filled", { labels: {} }, { labels: { a: "1" } }, { added: ["labels.a"] }],
  ["a map is removed", { labels: { a: "1" } }, {}, { removed: ["labels", "labels.a"] }],
  ["an atomic map", { frozen: { a: "1" } }, { frozen: { a: "1", b: "2" } }, { modified: ["frozen"] }],
  ["an atomic map in another order", { frozen: { a: "1", b: "2" } }, { frozen: { b: "2", a: "1" } }, {}],
  ["an atomic list in another order", { atomic: ["a", "b"] }, { atomic: ["b", "a"] }, { modified: ["atomic"] }],
  ["a set in another order", { set: ["a", "b"] }, { set: ["b", "a"] }, {}],
  [
    "a keyed list in another order",
    { list: [{ name: "a", value: 1 }, { name: "b" }] },
    { list: [{ name: "b" }, { name: "a", value: 1 }] },
    {},
  ],
  ["an empty list is added", {}, { list: [] }, { added: ["list"] }],
  ["a list is emptied", { set: ["a"] }, { set: [] }, { removed: ['set["a"]'] }],
  [
    "within an item",
    { list: [{ name: "a", value: 1, tags: ["x"] }] },
    { list: [{ name: "a", tags: ["y"] }] },
    { added: ['list[{"name":"a"}].tags["y"]'], removed: ['list[{"name":"a"}].value', 'list[{"name":"a"}].tags["x"]'] },
  ],
  ["a number becomes a string", { either: 1 }, { either: "1" }, { modified: ["either"] }],
  ["integers beyond 2^53", { number: 9007199254740993n }, { number: 9007199254740995n }, { modified: ["number"] }],
  ["fields that the schema does not declare", { other: 1 }, { other: 2 }, {}],
  ["deduced null and map", { raw: { a: null } }, { raw: { a: { b: 1 } } }, { added: ["raw.a.b"] }],
  ["deduced scalar and list", { raw: { a: 1 } }, { raw: { a: [1] } }, { modified: ["raw.a"] }],
  ["deduced empty map and list", { raw: { a: {} } }, { raw: { a: [] } }, { modified: ["raw.a"] }],
  ["deduced lists of maps", { raw: { a: [{ b: 1 }] } }, { raw: { a: [{ b: 1 }] } }, {}],
  [
    "names of properties of Object",
    JSON.parse('{"labels":{"__proto__":"x"}}'),
    { labels: { constructor: "y" } },
    { added: ["labels.constructor"], removed: ["labels.__proto__"] },
  ],
];
for (const [what, left, right, expected] of comparisons) {
  test(`compare: ${what}`, () => {
    const got = compare(left, right, schema);
    for (const change of ["added", "removed", "modified"] as const) {
      assert.deepEqual(pathTexts(got[change]), pathTexts(pathSetOf((expected[change] ?? []).map(path))), change);
    }
    const back = compare(right, left, schema);
    assert.deepEqual(
      [pathTexts(back.added), pathTexts(back.modified)].flat().sort(),
      [...pathTexts(got.removed), ...pathTexts(got.modified)].sort(),
    );
  });
}

const go = goStruct({
  text: string,
  number: int,
  time: scalar("time"),
  quantity: scalar("quantity"),
  list: atomicList(string),
  inner: goStruct({ a: int }),
});
test("compare: an absent field equals the zero value that Go serializes", () => {
  const zero = { text: "", number: 0, time: null, quantity: "0", list: null, inner: { a: 0 } };
  assert.deepEqual(compare({}, zero, go), compare(zero, zero, go));
  assert.deepEqual(pathTexts(compare({}, { ...zero, number: 1, list: ["x"] }, go).modified), ["list", "number"]);
});

const merges: [what: string, live: PlainMap, intent: PlainMap, merged: PlainMap][] = [
  ["an empty intent", { text: "x" }, {}, { text: "x" }],
  ["a leaf", { text: "x", number: 1 }, { text: "y" }, { text: "y", number: 1 }],
  ["into a map", { labels: { a: "1" } }, { labels: { b: "2" } }, { labels: { a: "1", b: "2" } }],
  ["an atomic map", { frozen: { a: "1" } }, { frozen: { b: "2" } }, { frozen: { b: "2" } }],
  ["null for an absent map", {}, { labels: null }, { labels: null }],
  ["null over an empty map", { labels: {} }, { labels: null }, { labels: null }],
  ["null over a map", { labels: { a: "1" } }, { labels: null }, { labels: { a: "1" } }],
  ["null over a list", { set: ["a"] }, { set: null }, { set: ["a"] }],
  ["null over an atomic list", { atomic: ["a"] }, { atomic: null }, { atomic: null }],
  ["an empty list over items", { list: [{ name: "a" }] }, { list: [] }, { list: [{ name: "a" }] }],
  ["items at the end", { set: ["a", "b"] }, { set: ["c"] }, { set: ["a", "b", "c"] }],
  ["items at the front", { set: ["b", "c"] }, { set: ["a", "b"] }, { set: ["a", "b", "c"] }],
  ["items in reverse order", { set: ["a", "b", "c"] }, { set: ["c", "b", "a"] }, { set: ["c", "b", "a"] }],
  ["items between", { set: ["a", "x", "b"] }, { set: ["b", "y", "a"] }, { set: ["x", "b", "y", "a"] }],
  ["a map over a scalar", { raw: { a: 1 } }, { raw: { a: { b: 1 } } }, { raw: { a: { b: 1 } } }],
  ["a list over a map", { raw: { a: { b: 1 } } }, { raw: { a: [1] } }, { raw: { a: [1] } }],
  ["deduced lists", { raw: { a: [1, 2] } }, { raw: { a: [3] } }, { raw: { a: [3] } }],
  [
    "names of properties of Object",
    { labels: { a: "1" } },
    JSON.parse('{"labels":{"__proto__":"x"}}'),
    JSON.parse('{"labels":{"a":"1","__proto__":"x"}}'),
  ],
];
for (const [what, live, intent, expected] of merges) {
  test(`merge: ${what}`, () => {
    const before = JSON.stringify([live, intent]);
    const merged = merge(live, intent, schema);
    assert.equal(JSON.stringify(merged), JSON.stringify(expected));
    assert.equal(JSON.stringify([live, intent]), before);
    assert.equal(merge(merged, intent, schema), merged, "a second merge changes nothing");
  });
}

const object = {
  text: "x",
  labels: { a: "1", b: "2" },
  frozen: { a: "1" },
  set: ["a", "b"],
  atomic: ["a"],
  list: [{ name: "a", value: 1, tags: ["x", "y"] }, { name: "b" }],
};
const cuts: [what: string, paths: string[], without: PlainMap, only: PlainMap][] = [
  ["nothing", [], object, {}],
  ["a leaf", ["text"], { ...object, text: undefined }, { text: "x" }],
  ["paths that do not exist", ["number", "labels.c", 'set["z"]'], object, {}],
  ["an entry", ["labels.a"], { ...object, labels: { b: "2" } }, { labels: { a: "1" } }],
  ["all entries", ["labels.a", "labels.b"], { ...object, labels: {} }, { labels: { a: "1", b: "2" } }],
  ["all values of a set", ['set["a"]', 'set["b"]'], { ...object, set: [] }, { set: ["a", "b"] }],
  ["all of an item", ['list[{"name":"b"}].name'], { ...object, list: [object.list[0], {}] }, { list: [{ name: "b" }] }],
  ["a map itself", ["labels"], { ...object, labels: undefined }, { labels: {} }],
  ["an atomic map", ["frozen"], { ...object, frozen: undefined }, { frozen: { a: "1" } }],
  [
    "within atomic values",
    ["frozen.a", 'atomic["a"]'],
    { ...object, frozen: {}, atomic: [] },
    { frozen: { a: "1" }, atomic: ["a"] },
  ],
  ["a value of a set", ['set["a"]'], { ...object, set: ["b"] }, { set: ["a"] }],
  ["an item", ['list[{"name":"a"}]'], { ...object, list: [{ name: "b" }] }, { list: [{}] }],
  [
    "within an item",
    ['list[{"name":"a"}].value', 'list[{"name":"a"}].tags["x"]'],
    { ...object, list: [{ name: "a", tags: ["y"] }, { name: "b" }] },
    { list: [{ value: 1, tags: ["x"] }] },
  ],
];
for (const [what, texts, without, only] of cuts) {
  test(`remove and extract: ${what}`, () => {
    const cut = pathSetOf(texts.map(path));
    const before = JSON.stringify(object);
    const rest = removeItems(object, cut, schema);
    assert.deepEqual(JSON.parse(JSON.stringify(rest)), JSON.parse(JSON.stringify(without)));
    if (without === object) assert.equal(rest, object);
    assert.deepEqual(extractItems(object, cut, schema), only);
    assert.equal(JSON.stringify(object), before);
  });
}

test("extracting the fields that an intent owns returns the intent", () =>
  assert.deepEqual(extractItems(object, fieldSetOf(object, schema), schema), object));

const chain = (levels: number, make: (inner: unknown) => unknown): unknown => {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = make(value);
  return value;
};
for (const [what, make] of [
  ["maps", (inner: unknown) => ({ a: inner })],
  ["lists", (inner: unknown) => [inner]],
] as const) {
  test(`rejects ${what} that are nested too deep`, () => {
    const deep = (leaf: string): PlainMap => ({
      raw: JSON.parse(JSON.stringify(chain(500, make)).replace('"x"', `"${leaf}"`)),
    });
    assert.ok(fieldSetOf(deep("x"), schema));
    assert.notEqual(merge(deep("x"), deep("y"), schema), deep("x"));
    const one: PlainMap = { raw: chain(10_000, make) };
    const two: PlainMap = { raw: chain(10_000, make) };
    const clean = (error: unknown): boolean => error instanceof TypedError && error.message === "exceeded max depth";
    assert.throws(() => compare(one, two, schema), clean);
    assert.throws(() => merge(one, two, schema), clean);
    if (what === "maps") assert.throws(() => fieldSetOf(one, schema), clean);
  });
}

test("rejects field sets that are nested too deep", () => {
  const deep = chain(10_000, (inner) => ({ "f:a": inner === "x" ? {} : inner }));
  assert.throws(() => decodeFieldsV1(deep), /exceeded max depth/);
  assert.ok(depthMax <= 1000);
});

test("sorts numbers in keys and values by size", () => {
  const texts = [
    'k:{"port":443,"protocol":"TCP"}',
    'k:{"port":80,"protocol":"UDP"}',
    'k:{"port":80,"protocol":"TCP"}',
    "v:10",
    "v:9",
    'v:"a"',
    "f:z",
    "i:10",
    "i:9",
  ];
  assert.deepEqual(Object.keys(encodeFieldsV1(pathSetOf(texts.map((text) => [text])))), [
    "f:z",
    'k:{"port":80,"protocol":"TCP"}',
    'k:{"port":80,"protocol":"UDP"}',
    'k:{"port":443,"protocol":"TCP"}',
    "v:9",
    "v:10",
    'v:"a"',
    "i:9",
    "i:10",
  ]);
});

test("reports every problem of an intent", () => {
  assert.throws(
    () => validateIntent({ text: 1, set: [{}], other: 2 }, schema),
    (error) => error instanceof TypedError && error.message.split("\n").length === 4,
  );
});
