/** Decoding, encoding and merging of custom resources by the code for built-in kinds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { conform, DecodeError, decodeJson, decodeStored } from "../schema/decode.ts";
import { encodeObject } from "../schema/encode.ts";
import type { CustomForm } from "../schema/schema.ts";
import { granular } from "../structured-merge/typed.ts";
import { validateIntent } from "../structured-merge/validate.ts";
import { customSchema } from "./custom-schema.ts";
import type { JsonSchemaProps } from "./json-schema-props.ts";
import { parseStructuralSchema } from "./structural-schema.ts";

const objectMeta = builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

const widget: JsonSchemaProps = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", default: 3 },
        colour: { type: "string", nullable: true },
        port: { "x-kubernetes-int-or-string": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        atoms: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: { type: "string" } } },
        free: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "array", items: { type: "string" } } },
        },
        anything: { "x-kubernetes-preserve-unknown-fields": true },
        list: { type: "array", items: { type: "string" } },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        map: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, value: { type: "number" } },
          },
        },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
  },
};

const schemaOf = (source: JsonSchemaProps, preserveUnknownFields = false) =>
  customSchema(parseStructuralSchema(source), {
    group: "example.com",
    version: "v1",
    kind: "Widget",
    objectMeta,
    preserveUnknownFields,
  });

const schema = schemaOf(widget);

const decodeRows: [what: string, json: string, object: unknown, problems: string[]][] = [
  ["defaults", '{"spec":{}}', { spec: { size: 3 } }, []],
  ["a default instead of null", '{"spec":{"size":null}}', { spec: { size: 3 } }, []],
  [
    "null where it is allowed, and where it is not",
    '{"spec":{"colour":null,"port":null}}',
    { spec: { colour: null, size: 3 } },
    [],
  ],
  [
    "values of another type stay, so that validation rejects them",
    '{"spec":{"size":"x","list":{"a":1}}}',
    { spec: { size: "x", list: {} } },
    ['unknown field "spec.list.a"'],
  ],
  ["a list instead of an object", '{"spec":[1]}', { spec: [1] }, []],
  [
    "unknown fields",
    '{"spec":{"nope":1},"x":2,"kind":"Widget","apiVersion":"example.com/v1"}',
    { spec: { size: 3 }, kind: "Widget", apiVersion: "example.com/v1" },
    ['unknown field "spec.nope"', 'unknown field "x"'],
  ],
  [
    "unknown metadata",
    '{"metadata":{"name":"a","nope":1,"creationTimestamp":null}}',
    { metadata: { name: "a" } },
    ['unknown field "metadata.nope"'],
  ],
  [
    "empty metadata, of the object and embedded",
    '{"metadata":{"name":"","labels":{},"finalizers":[]},"spec":{"template":{"metadata":{"annotations":{},"generation":0,"deletionGracePeriodSeconds":0}}}}',
    { metadata: {}, spec: { size: 3, template: { metadata: { deletionGracePeriodSeconds: 0 } } } },
    [],
  ],
  ["repeated fields", '{"spec":{"size":1,"size":2}}', { spec: { size: 2 } }, ['duplicate field "spec.size"']],
  ["large integers", '{"spec":{"anything":9007199254740993}}', { spec: { anything: 9007199254740993n, size: 3 } }, []],
  [
    "embedded metadata",
    '{"spec":{"template":{"metadata":{"name":"x","nope":1},"y":{"z":1}}}}',
    { spec: { size: 3, template: { metadata: { name: "x" }, y: { z: 1 } } } },
    ['unknown field "spec.template.metadata.nope"'],
  ],
];

for (const [what, json, object, problems] of decodeRows) {
  test(`decoding: ${what}`, () => {
    assert.deepEqual(decodeJson(Buffer.from(json), schema), { object, problems });
  });
}

test("decoding: __proto__ is a field like any other", () => {
  const { object, problems } = decodeJson(
    Buffer.from('{"spec":{"labels":{"__proto__":"x"}},"__proto__":{"a":1}}'),
    schema,
  );
  assert.deepEqual(problems, ['unknown field "__proto__"']);
  assert.equal(encodeObject(object, schema).json.toString(), '{"spec":{"labels":{"__proto__":"x"},"size":3}}');
});

test("decoding: prunes nothing when the definition preserves unknown fields", () => {
  const keeping = schemaOf(widget, true);
  assert.deepEqual(decodeJson(Buffer.from('{"x":{"y":1}}'), keeping), { object: { x: { y: 1 } }, problems: [] });
});

const rejectedRows: [what: string, json: string, message: string][] = [
  [
    "metadata",
    '{"metadata":{"labels":{"a":1}}}',
    "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
  ],
  [
    "metadata that is not an object",
    '{"metadata":"x"}',
    "json: cannot unmarshal string into Go value of type v1.ObjectMeta",
  ],
  ["embedded kind", '{"spec":{"template":{"kind":1}}}', "spec.template.kind: Invalid value: 1: must be a string"],
  ["depth", `{"x":${"[".repeat(1100)}${"]".repeat(1100)}}`, "exceeded max depth of 1000"],
];

for (const [what, json, message] of rejectedRows) {
  test(`decoding rejects ${what}`, () => {
    assert.throws(() => decodeJson(Buffer.from(json), schema), new DecodeError(message));
  });
}

const restoredRows: [what: string, json: string, object: unknown][] = [
  [
    "embedded metadata that does not fit",
    '{"spec":{"template":{"kind":1,"metadata":{"name":"x","labels":{"a":1}},"y":2}}}',
    { spec: { size: 3, template: { metadata: { name: "x" }, y: 2 } } },
  ],
  [
    "embedded metadata that is not an object",
    '{"spec":{"template":{"kind":"A","metadata":"x"}}}',
    { spec: { size: 3, template: { kind: "A" } } },
  ],
  ["unknown fields", '{"spec":{"nope":1}}', { spec: { size: 3 } }],
];
for (const [what, json, object] of restoredRows) {
  test(`decoding a stored object removes ${what}`, () => {
    const stored = decodeStored(Buffer.from(json), schema.custom as CustomForm);
    assert.deepEqual(stored, object);
    assert.deepEqual(conform(structuredClone(stored), schema), { object, problems: [] });
  });
}

test("decoding twice changes nothing", () => {
  const { object } = decodeJson(
    Buffer.from('{"spec":{"map":[{"name":"a","x":1}],"template":{"metadata":{}}},"z":1}'),
    schema,
  );
  const again = conform(structuredClone(object), schema);
  assert.deepEqual(again, { object, problems: [] });
});

test("encoding sorts all keys, and the version is inserted between members of metadata", () => {
  const object = {
    spec: { b: 1, a: "<" },
    kind: "Widget",
    metadata: { uid: "u", name: "n", labels: { b: "", a: "" } },
    apiVersion: "example.com/v1",
  };
  const { json, versionOffset, itemOffset } = encodeObject(object, schema);
  const start = '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"labels":{"a":"","b":""},"name":"n",';
  assert.equal(json.toString(), `${start}"uid":"u"},"spec":{"a":"\\u003c","b":1}}`);
  assert.deepEqual({ versionOffset, itemOffset }, { versionOffset: start.length, itemOffset: 1 });
});

const typeAt = (name: string) => {
  const spec = schema.byName.get("spec")?.type;
  assert.ok(spec?.kind === "struct");
  const type = spec.byName.get(name)?.type;
  assert.ok(type);
  return type;
};

const mergeRows: [field: string, value: unknown, form: "map" | "list" | undefined][] = [
  ["size", 1, undefined],
  ["port", "a", undefined],
  ["port", { a: 1 }, "map"],
  ["labels", {}, "map"],
  ["atoms", {}, undefined],
  ["free", {}, "map"],
  ["anything", {}, "map"],
  ["anything", [], undefined],
  ["list", [], undefined],
  ["set", [], "list"],
  ["map", [], "list"],
  ["template", {}, "map"],
];

for (const [field, value, form] of mergeRows) {
  test(`merging: ${field} with ${JSON.stringify(value)} is ${form ?? "a leaf"}`, () => {
    assert.equal(granular(typeAt(field), value)?.form, form);
  });
}

test("merging: items are identified by keys, embedded metadata merges like metadata", () => {
  const list = typeAt("map");
  assert.ok(list.kind === "list");
  assert.deepEqual([list.listType, list.mapKeys], ["map", ["name"]]);
  const template = typeAt("template");
  assert.ok(template.kind === "struct");
  assert.equal(template.byName.get("metadata")?.type, objectMeta);
});

test("an apply reports a field that the schema does not declare", () => {
  assert.throws(() => validateIntent({ spec: { nope: 1, free: { x: 1 } } }, schema), {
    message: ".spec.nope: field not declared in schema",
  });
});

test("different schemas have different fingerprints", () => {
  const other = schemaOf({ ...widget, description: "x" });
  assert.notEqual(schema.custom?.fingerprint, other.custom?.fingerprint);
  assert.equal(schema.custom?.fingerprint, schemaOf(structuredClone(widget)).custom?.fingerprint);
});

test("an apply reports a hundred duplicate items", () => {
  assert.throws(
    () => validateIntent({ spec: { set: Array.from({ length: 1000 }, () => "x") } }, schema),
    (error: Error) => error.message.split("\n").length === 101,
  );
});

test("an apply reports one unknown field of a map", () => {
  const spec = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`nope${index}`, 1]));
  assert.throws(() => validateIntent({ spec }, schema), { message: ".spec.nope0: field not declared in schema" });
});

test("an embedded kind that was applied as null stays, so that validation reports it", () => {
  const object = { spec: { template: { apiVersion: null, kind: null, metadata: {} } } };
  schema.custom?.complete(object);
  assert.deepEqual(object.spec.template, { apiVersion: null, kind: null, metadata: {} });
  const bytes = Buffer.from('{"spec":{"template":{"apiVersion":null,"kind":"A"}}}');
  assert.throws(() => decodeJson(bytes, schema), /spec\.template\.apiVersion: Invalid value: null: must be a string/);
});
