import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog } from "../../test/support/builtin-catalog.ts";
import { randomObject } from "../../test/support/random-object.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { CelDouble, CelList, CelMap, type CelValue, equal, type JsonValue, jsonValue } from "../lib/cel/index.ts";
import { parseEncoded } from "../lib/json/parse.ts";
import { encodeValue } from "../lib/schema/encode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { plainValue } from "./plain-value.ts";
import { typedObject } from "./typed-value.ts";

type PlainObject = Record<string, unknown>;

/** What expressions see of the JSON that Go writes. */
function parsed(object: PlainObject, schema: Struct): CelMap {
  return jsonValue(parseEncoded(Buffer.from(encodeValue(object, schema))) as JsonValue) as CelMap;
}

/** Compares every part that an expression can reach, and parts that do not exist. */
function compare(actual: CelValue | undefined, expected: CelValue | undefined, path: string): void {
  if (expected instanceof CelList) {
    assert.ok(actual instanceof CelList, path);
    assert.equal(actual.size, expected.size, path);
    for (let at = 0; at < expected.size; at++) compare(actual.at(at), expected.at(at), `${path}[${at}]`);
  } else if (expected instanceof CelMap) {
    assert.ok(actual instanceof CelMap, path);
    assert.equal(actual.size, expected.size, path);
    assert.deepEqual(actual.keys().toSorted(), expected.keys().toSorted(), path);
    for (const key of expected.keys()) {
      assert.equal(actual.has(key), true, `${path}.${key}`);
      compare(actual.find(key), expected.find(key), `${path}.${key}`);
    }
    for (const key of ["__proto__", "constructor", "status", "missing", 1]) {
      assert.equal(actual.has(key), expected.has(key), `${path}.${key}`);
      assert.equal(actual.find(key) === undefined, expected.find(key) === undefined, `${path}.${key}`);
    }
  } else assert.deepEqual(numberOf(actual), numberOf(expected), path);
}

/** Whole doubles are ints in parsed JSON, but not in Go's conversion of typed objects. */
function numberOf(value: CelValue | undefined): unknown {
  return value instanceof CelDouble ? value.value : value;
}

test(`random objects of all built-in kinds are shown as their JSON, SEED=${seed}`, () => {
  const random = seededRandom(seed);
  const schemas = new Set(
    builtinCatalog("api/all=true")
      .definitions()
      .flatMap(({ versions }) =>
        versions.flatMap(({ schema, subresources }) => [schema, ...subresources.map((one) => one.schema)]),
      )
      .filter((schema) => schema !== undefined),
  );
  assert.ok(schemas.size > 80, `${schemas.size} schemas`);
  for (const schema of schemas)
    for (let round = 0; round < 8; round++) {
      const object = randomObject(schema, random);
      const [actual, expected] = [typedObject(object, schema), parsed(object, schema)];
      compare(actual, expected, schema.definition);
      assert.ok(equal(actual, expected) && equal(expected, actual), schema.definition);
    }
});

const shown: readonly (readonly [what: string, definition: string, object: PlainObject, expected: PlainObject])[] = [
  [
    "structs that are not set, and scalars without omitempty",
    "io.k8s.api.apps.v1.Deployment",
    { metadata: { name: "a" }, spec: { template: { spec: { containers: [] } } } },
    {
      metadata: { name: "a" },
      spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    },
  ],
  [
    "empty fields with omitempty are left out",
    "io.k8s.api.core.v1.ConfigMap",
    { metadata: { name: "", labels: {}, finalizers: [] }, data: {}, immutable: false },
    { metadata: {}, immutable: false },
  ],
  [
    "bytes, times, quantities, and integers or strings",
    "io.k8s.api.core.v1.Service",
    { metadata: { creationTimestamp: "2020-02-29T23:59:59Z" }, spec: { ports: [{ port: 1, targetPort: "http" }, {}] } },
    {
      metadata: { creationTimestamp: "2020-02-29T23:59:59Z" },
      spec: {
        ports: [
          { port: 1, targetPort: "http" },
          { port: 0, targetPort: 0 },
        ],
      },
      status: { loadBalancer: {} },
    },
  ],
];

for (const [what, definition, object, expected] of shown)
  test(`shows ${what}`, () => assert.deepEqual(plainValue(typedObject(object, builtinSchema(definition))), expected));

test("shows doubles as doubles", () => {
  const schema = builtinSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  assert.deepEqual(typedObject({ maximum: 3 }, schema).find("maximum"), new CelDouble(3));
});
