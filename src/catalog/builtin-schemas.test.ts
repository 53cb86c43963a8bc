import assert from "node:assert/strict";
import { test } from "node:test";
import { randomObject } from "../../test/support/random-object.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { decodeEncoded, decodeJson } from "../lib/schema/decode.ts";
import { encodeAny, encodeObject } from "../lib/schema/encode.ts";
import { equalBySchema } from "../lib/schema/equal.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { builtinDefinitionNames, builtinSchema, builtinType, definitionOf } from "./builtin-schemas.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** Random objects are made of every tenth type without COXSWAIN_TEST_FULL=1, a different tenth for each seed. */
const chosenStructs = (): Struct[] => structs().filter((_, index) => isFull || index % 10 === seed % 10);

const structs = (): Struct[] =>
  builtinDefinitionNames()
    .map(builtinType)
    .filter((type) => type.kind === "struct");

test("builds every type of the table", () => {
  for (const struct of structs())
    for (const field of struct.fields) assert.ok(field.type.kind, `${struct.definition} ${field.name}`);
  assert.equal(structs().length, 976);
});

test(`decodes encoded objects to equal ones, SEED=${seed}`, () => {
  const random = seededRandom(seed);
  for (const schema of chosenStructs()) {
    const object = randomObject(schema, random);
    const { object: first, problems } = decodeJson(Buffer.from(encodeAny(object)), schema);
    assert.deepEqual(problems, [], schema.definition);
    dropVersion(first);
    const encoded = encodeObject(first, schema).json;
    const again = decodeJson(encoded, schema);
    assert.deepEqual(again.problems, [], schema.definition);
    assert.ok(equalBySchema(first, again.object, schema), schema.definition);
    assert.deepEqual(decodeEncoded(encoded, schema), again.object, schema.definition);
    assert.equal(encodeObject(again.object, schema).json.toString(), encoded.toString(), schema.definition);
  }
});

/** Encoding omits it. */
function dropVersion({ metadata }: Record<string, unknown>): void {
  if (typeof metadata === "object" && metadata !== null)
    delete (metadata as { resourceVersion?: unknown }).resourceVersion;
}

test(`decodes or rejects damaged texts, SEED=${seed}`, () => {
  const random = seededRandom(seed);
  for (const schema of chosenStructs()) {
    const bytes = Buffer.from(encodeAny(randomObject(schema, random)));
    for (let round = 0; round < 5; round++) {
      try {
        decodeJson(damage(bytes, random), schema);
      } catch (error) {
        assert.match((error as Error).name, /^(DecodeError|JsonSyntaxError)$/, (error as Error).stack ?? "");
      }
    }
  }
});

const fragments = [
  "null",
  "1",
  "1.5",
  "1e999",
  '"x"',
  "{}",
  "[]",
  "true",
  '{"a":1,"a":2}',
  ",",
  ":",
  '"',
  "\\ud800",
  "\u0000",
  "99999999999999999999",
];

function damage(bytes: Buffer, random: (below: number) => number): Buffer {
  const at = random(bytes.length);
  const inserted = Buffer.from(fragments[random(fragments.length)] as string);
  const value = bytes.indexOf(":", at) + 1; // Many texts remain well-formed, with a value of another type.
  if (random(2) === 0 && value > 0)
    return Buffer.concat([bytes.subarray(0, value), inserted, Buffer.from(',"z":'), bytes.subarray(value)]);
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + random(3))]);
}

const kindRows: [group: string, version: string, kind: string, want: string | undefined][] = [
  ["", "v1", "Pod", "io.k8s.api.core.v1.Pod"],
  ["apps", "v1", "Deployment", "io.k8s.api.apps.v1.Deployment"],
  [
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
  ],
  ["apps", "v1", "DeleteOptions", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"],
  ["apps", "v1", "Pod", undefined],
  ["", "v1", "pod", undefined],
];

for (const [group, version, kind, want] of kindRows) {
  test(`definition of ${group}/${version} ${kind}`, () => assert.equal(definitionOf(group, version, kind), want));
}

test("the first fields of kinds are kind, apiVersion and metadata", () => {
  const names = builtinSchema("io.k8s.api.core.v1.Pod").fields.map(({ name }) => name);
  assert.deepEqual(names, ["kind", "apiVersion", "metadata", "spec", "status"]);
});

test("fields have their embedded struct, for protobuf", () => {
  const field = builtinSchema("io.k8s.api.core.v1.Volume").byName.get("hostPath");
  assert.deepEqual(field?.embedded, {
    name: "VolumeSource",
    definition: "io.k8s.api.core.v1.VolumeSource",
    protobuf: { number: 2, type: "k8s.io.api.core.v1.VolumeSource", name: "volumeSource" },
  });
});

test("a field of an atomic struct type can be granular", () => {
  const claimRef = builtinSchema("io.k8s.api.core.v1.PersistentVolumeSpec").byName.get("claimRef");
  assert.deepEqual(
    [
      claimRef?.type.kind === "struct" && claimRef.type.atomic,
      builtinSchema("io.k8s.api.core.v1.ObjectReference").atomic,
    ],
    [false, true],
  );
});

test("recursive types refer to themselves", () => {
  const schema = builtinSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  const properties = schema.byName.get("properties")?.type;
  assert.equal(properties?.kind === "map" && properties.values, schema);
});
