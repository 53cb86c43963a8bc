/** Functions that walk an object by its schema: gates, defaults, equality. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDefaults } from "./defaults.ts";
import { equalBySchema } from "./equal.ts";
import { dropDisabledFields } from "./gates.ts";
import type { Field, Struct, Type } from "./schema.ts";

const text: Type = { kind: "string" };

function struct(definition: string, fields: readonly (Partial<Field> & { name: string; type: Type })[]): Struct {
  const complete = fields.map((field) => ({
    pointer: false,
    omitEmpty: true,
    omitZero: false,
    required: false,
    ...field,
  }));
  return {
    kind: "struct",
    definition,
    goType: definition,
    fields: complete,
    byName: new Map(complete.map((field) => [field.name, field])),
    atomic: false,
    preserveUnknown: false,
  };
}

const listOf = (items: Type): Type => ({ kind: "list", items, listType: "atomic", mapKeys: [] });
const mapOf = (values: Type): Type => ({ kind: "map", values, atomic: false });

const item = struct("v1.Item", [
  { name: "plain", type: text },
  { name: "new", type: text, gates: ["New"] },
  { name: "newer", type: text, gates: ["New", "Newer"] },
  { name: "protocol", type: text, default: "TCP" },
  { name: "limit", type: { kind: "int32" }, pointer: true, default: 5 },
]);
const root = struct("v1.Root", [
  { name: "list", type: listOf(item) },
  { name: "map", type: mapOf(item) },
  { name: "amounts", type: mapOf({ kind: "quantity" }) },
  { name: "pointer", type: item, pointer: true },
  { name: "value", type: struct("v1.Value", [{ name: "count", type: { kind: "int32" } }]) },
  {
    name: "hooks",
    type: struct("v1.Hooks", [
      { name: "stop", type: text, gates: ["Stop"], dropsHolder: true },
      { name: "start", type: text },
    ]),
    pointer: true,
  },
]);

const gateRows: [what: string, on: string[], next: object, old: object | undefined, expected: object][] = [
  ["off, on create", [], { list: [{ plain: "a", new: "b" }] }, undefined, { list: [{ plain: "a" }] }],
  ["on", ["New"], { list: [{ new: "b", newer: "c" }] }, undefined, { list: [{ new: "b", newer: "c" }] }],
  ["any of its gates", ["Newer"], { list: [{ new: "b", newer: "c" }] }, undefined, { list: [{ newer: "c" }] }],
  ["off, in a struct with no other field", [], { hooks: { stop: "a" } }, undefined, {}],
  [
    "off, in a struct with another field",
    [],
    { hooks: { stop: "a", start: "b" } },
    undefined,
    { hooks: { start: "b" } },
  ],
  ["an empty struct that the client sent", [], { hooks: {} }, undefined, { hooks: {} }],
  [
    "in use already, in another item",
    [],
    { list: [{}, { new: "b" }] },
    { list: [{ new: "a" }] },
    { list: [{}, { new: "b" }] },
  ],
  ["in use elsewhere", [], { map: { k: { new: "b" } } }, { list: [{ new: "a" }] }, { map: { k: {} } }],
  [
    "__proto__ is a key",
    [],
    { map: JSON.parse('{"__proto__":{"new":"b"}}') },
    {},
    { map: JSON.parse('{"__proto__":{}}') },
  ],
];

for (const [what, on, next, old, expected] of gateRows) {
  test(`gates: ${what}`, () => {
    dropDisabledFields(next, old, root, (gate) => on.includes(gate));
    assert.deepEqual(next, expected);
  });
}

const filled = { protocol: "TCP", limit: 5 };

const defaultRows: [what: string, object: object, expected: object][] = [
  [
    "in lists, maps and pointers",
    { list: [{}], map: { k: {} }, pointer: {} },
    { list: [filled], map: { k: filled }, pointer: filled },
  ],
  [
    "what is set stays, a zero behind a pointer too",
    { list: [{ protocol: "UDP", limit: 0 }] },
    { list: [{ protocol: "UDP", limit: 0 }] },
  ],
  ["an empty string counts as absent", { pointer: { protocol: "" } }, { pointer: filled }],
  ["no field to default", {}, {}],
];

for (const [what, object, expected] of defaultRows) {
  test(`defaults: ${what}`, () => {
    applyDefaults(object, root);
    assert.deepEqual(object, expected);
  });
}

const equalityRows: [what: string, a: object, b: object, expected: boolean][] = [
  ["empty containers equal absent ones", { list: [], map: {} }, {}, true],
  ["a pointer that is set", { pointer: {} }, {}, false],
  ["a quantity in other units", { amounts: { a: "1Gi" } }, { amounts: { a: "1073741824" } }, true],
  ["another quantity", { amounts: { a: "1Gi" } }, { amounts: { a: "1G" } }, false],
  ["a value that is empty", { value: {} }, {}, true],
  ["a zero that is left out", { value: { count: 0 } }, { value: {} }, true],
  ["a zero behind a pointer", { pointer: { limit: 0 } }, { pointer: {} }, false],
  ["an empty text", { list: [{ plain: "" }] }, { list: [{}] }, true],
  ["order of items", { list: [{ plain: "a" }, { plain: "b" }] }, { list: [{ plain: "b" }, { plain: "a" }] }, false],
  ["another key", { map: { a: {} } }, { map: { b: {} } }, false],
];

for (const [what, a, b, expected] of equalityRows) {
  test(`equality: ${what}`, () =>
    assert.deepEqual([equalBySchema(a, b, root), equalBySchema(b, a, root)], [expected, expected]));
}
