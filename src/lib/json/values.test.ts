import assert from "node:assert/strict";
import { test } from "node:test";
import { addIntegers, cloneJson, deepEqual, identical, toInteger } from "./values.ts";

const own = JSON.parse('{"__proto__":{"a":1}}');

const equalityRows: [title: string, a: unknown, b: unknown, semantic: boolean, exact: boolean][] = [
  ["equal values", { a: [1, { b: "x" }] }, { a: [1, { b: "x" }] }, true, true],
  ["order of members", { a: 1, b: 2 }, { b: 2, a: 1 }, true, true],
  ["order of items", [1, 2], [2, 1], false, false],
  ["absent and empty", { a: {}, b: [] }, {}, true, false],
  ["absent and null", { a: null }, {}, true, false],
  ["absent and undefined", { a: undefined }, {}, true, true],
  ["absent and empty string", { a: "" }, {}, false, false],
  ["zero and absent", { a: 0 }, {}, false, false],
  ["list and map", { a: [1] }, { a: { 0: 1 } }, false, false],
  ["big integers", 2n ** 60n, 2n ** 60n, true, true],
  ["number and string", 1, "1", false, false],
  ["__proto__ is a member", own, {}, false, false],
  ["__proto__ of both", own, cloneJson(own), true, true],
  ["inherited constructor and undefined", {}, { constructor: undefined }, true, true],
];

for (const [title, a, b, semantic, exact] of equalityRows) {
  test(`compares ${title}`, () => {
    assert.deepEqual(
      [deepEqual(a, b), deepEqual(b, a), identical(a, b), identical(b, a)],
      [semantic, semantic, exact, exact],
    );
  });
}

test("clones deeply and keeps __proto__ as data", () => {
  const clone = cloneJson(own);
  assert.deepEqual(Object.entries(clone), [["__proto__", { a: 1 }]]);
  assert.notEqual(Object.entries(clone)[0]?.[1], Object.entries(own)[0]?.[1]);
  assert.equal(Object.getPrototypeOf(clone), Object.prototype);
});

test("represents unsafe integers as bigint", () => {
  assert.deepEqual([toInteger(5n), toInteger(2n ** 53n)], [5, 2n ** 53n]);
  assert.equal(addIntegers(2 ** 53 - 1, 1), 2n ** 53n);
});
