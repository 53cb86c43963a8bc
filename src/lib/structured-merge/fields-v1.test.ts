import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFieldsV1, encodeFieldsV1, FieldsV1Error, formatPath, keyElement, valueElement } from "./fields-v1.ts";
import {
  countPaths,
  difference,
  equalSets,
  has,
  intersection,
  leaves,
  type PathSet,
  pathSetOf,
  paths,
  recursiveDifference,
  sortElements,
  union,
} from "./set.ts";

const roundTrips: string[] = [
  "{}",
  '{"f:a":{}}',
  '{"f:data":{".":{},"f:k":{}}}',
  '{"f:spec":{"f:containers":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:image":{},"f:ports":{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{}}}}}}}',
  '{"f:finalizers":{".":{},"v:\\"x\\"":{}}}',
  '{"f:l":{"i:0":{},"i:10":{}}}',
  '{"f:constructor":{},"f:__proto__":{}}',
];
for (const text of roundTrips) {
  test(`round trip of ${text}`, () => {
    const set = decodeFieldsV1(JSON.parse(text));
    assert.ok(equalSets(decodeFieldsV1(encodeFieldsV1(set)), set));
    assert.equal(JSON.parse(text) && sortedText(encodeFieldsV1(set)), sortedText(JSON.parse(text)));
    assert.equal([...paths(set)].length, countPaths(set));
  });
}

/** The JSON text with sorted keys. */
function sortedText(value: unknown): string {
  return JSON.stringify(value, (_key, part) =>
    typeof part === "object" && part !== null ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
}

test("reads indices as Go reads integers", () => {
  const indices = ["i:01", "i:-1", "i:+2", "i:9223372036854775807"];
  const set = decodeFieldsV1(Object.fromEntries(indices.map((index) => [index, {}])));
  assert.deepEqual(Object.keys(encodeFieldsV1(set)), ["i:-1", "i:1", "i:2", "i:9223372036854775807"]);
});

test("sorts the keys of key elements", () => {
  const set = decodeFieldsV1({ 'k:{"protocol":"TCP","containerPort":80}': {} });
  assert.deepEqual(Object.keys(encodeFieldsV1(set)), ['k:{"containerPort":80,"protocol":"TCP"}']);
});

const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
for (const [what, value] of [
  ["a list", []],
  ["no colon", { abc: {} }],
  ["a bad key", { "k:{": {} }],
  ["a bad index", { "i:x": {} }],
  ["an index beyond 64 bits", { "i:9223372036854775808": {} }],
  ["a key that nests too deep", { [`k:{"a":${deep}}`]: {} }],
  ["a value that nests too deep", { [`v:${deep}`]: {} }],
  ["a leaf that is not an object", { "f:a": 1 }],
] as const) {
  test(`rejects ${what}`, () => assert.throws(() => decodeFieldsV1(value), FieldsV1Error));
}

test("formats paths as conflict messages show them", () => {
  assert.equal(formatPath(["f:spec", "f:containers", 'k:{"name":"a"}', "f:image"]), '.spec.containers[name="a"].image');
  assert.equal(formatPath(["f:metadata", "f:finalizers", 'v:"x"']), '.metadata.finalizers[="x"]');
});

/**
 * Values, their path elements, and how conflict messages show these; in the order of FieldsV1.
 * Recorded from sigs.k8s.io/structured-merge-diff/v6@v6.3.2.
 */
const values: readonly (readonly [value: unknown, text: string, shown: string])[] = [
  [1.5e-10, "1.5e-10", "1.5e-10"],
  [1e-7, "1e-07", "1e-07"],
  [0.000001, "0.000001", "1e-06"],
  [80, "80", "80"],
  [1000000, "1000000", "1e+06"],
  [1e20, "100000000000000000000", "1e+20"],
  [1e21, "1e+21", "1e+21"],
  ["<", String.raw`"\u003c"`, '"<"'],
  [
    '<a>&\u2028\u2029\b\f\x7f\n\t"\\é😀\0',
    `${String.raw`"\u003ca\u003e\u0026\u2028\u2029\u0008\u000c`}\x7f${String.raw`\n\t\"\\é😀\u0000"`}`,
    String.raw`"<a>&\u2028\u2029\b\f\x7f\n\t\"\\é😀\x00"`,
  ],
  ["a", '"a"', '"a"'],
  ["a b", '"a b"', '"a b"'],
  ["a!", '"a!"', '"a!"'],
  ["z", '"z"', '"z"'],
  ["\u0085\u00a0\ufeff", '"\u0085\u00a0\ufeff"', String.raw`"\u0085\u00a0\ufeff"`],
  [true, "true", "true"],
  [["<", 1], String.raw`["\u003c",1]`, '["<",1]'],
  [null, "null", "null"],
];

test("encodes and shows the values of path elements as upstream does", () => {
  for (const [value, text, shown] of values) {
    assert.equal(valueElement(value), `v:${text}`);
    assert.equal(keyElement({ "n<": value }), `k:{"n<":${text}}`);
    assert.equal(formatPath([valueElement(value)]), `[=${shown}]`);
    assert.equal(formatPath([keyElement({ "n<": value })]), `[n<=${shown}]`);
    const written = { [`v:${text}`]: {} };
    assert.deepEqual(encodeFieldsV1(decodeFieldsV1({ [`v:${JSON.stringify(value)}`]: {} })), written);
  }
  assert.equal(valueElement(-0), "v:-0");
  assert.equal(formatPath([keyElement({ 9: 2, 10: 1 })]), "[10=1,9=2]");
  const elements = values.map(([value]) => valueElement(value));
  assert.deepEqual(sortElements(elements.toReversed()), elements);
});

const of = (...texts: string[]): PathSet => pathSetOf(texts.map((text) => text.split("/")));
const a = of("f:a", "f:a/f:b", "f:c/f:d");
const b = of("f:a/f:b", "f:c", "f:e");
const rows: [what: string, got: PathSet, expected: PathSet][] = [
  ["union", union(a, b), of("f:a", "f:a/f:b", "f:c/f:d", "f:c", "f:e")],
  ["intersection", intersection(a, b), of("f:a/f:b")],
  ["difference", difference(a, b), of("f:a", "f:c/f:d")],
  ["recursive difference", recursiveDifference(a, b), of("f:a")],
  ["leaves", leaves(a), of("f:a/f:b", "f:c/f:d")],
];
for (const [what, got, expected] of rows) test(what, () => assert.deepEqual([...paths(got)], [...paths(expected)]));

test("membership", () => {
  assert.ok(has(a, ["f:a"]));
  assert.ok(!has(a, ["f:c"]));
  assert.ok(!has(a, ["f:c", "f:x"]));
});
