/** The decoder of stored messages has the results and errors of the one of requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { messageWords, mutate } from "../../../test/support/mutate.ts";
import { randomObject } from "../../../test/support/random-object.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { JsonText } from "../json/json-text.ts";
import { parseJson } from "../json/parse.ts";
import { setMember } from "../json/values.ts";
import { conform } from "../schema/decode.ts";
import type { Struct } from "../schema/schema.ts";
import { decodeProtobuf, decodeStoredProtobuf } from "./decode.ts";
import { encodeProtobuf } from "./encode.ts";

const schemas = [
  "io.k8s.api.core.v1.Pod",
  "io.k8s.api.core.v1.Event",
  "io.k8s.api.core.v1.ResourceQuota",
  "io.k8s.api.resource.v1.ResourceSlice",
  "io.k8s.api.certificates.v1.CertificateSigningRequest",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
].map(builtinSchema);
const bytes = (...parts: (Buffer | string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.from([part]) : Buffer.from(part as Buffer))));

function outcome(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    return String(error);
  }
}

/** Replaces each {@link JsonText} by its value, in place. */
function withoutTexts(value: unknown): unknown {
  if (value instanceof JsonText) return parseJson(Buffer.from(value.text)).value;
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object)) setMember(object, key, withoutTexts(object[key]));
  return value;
}

function compare(message: Buffer, schema: Struct, what: string): void {
  assert.deepEqual(
    outcome(() => withoutTexts(decodeStoredProtobuf(message, schema))),
    outcome(() => conform(decodeProtobuf(message, schema), schema).object),
    what,
  );
}

test(`random and damaged messages (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  for (let count = 0; count < 1500; count++) {
    const schema = schemas[count % schemas.length] as Struct;
    const message = encodeProtobuf(randomObject(schema, random), schema);
    compare(message, schema, message.toString("base64"));
    const damaged = mutate(message, { others: [message], words: messageWords, random });
    compare(damaged, schema, damaged.toString("base64"));
  }
});

/** An object with managed fields that are this JSON. */
function managedFields(json: string): Buffer {
  const raw = bytes(0x0a, varint(Buffer.byteLength(json)), json);
  const entry = bytes(0x3a, varint(raw.length), raw);
  const metadata = bytes(0x8a, 0x01, varint(entry.length), entry);
  return bytes(0x0a, varint(metadata.length), metadata);
}

function varint(value: number): Buffer {
  const all: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) all.push((rest & 0x7f) | 0x80);
  return Buffer.from([...all, rest]);
}

const documents: [what: string, json: string][] = [
  ["deep", `${'{"a":'.repeat(900)}1${"}".repeat(900)}`],
  ["too deep", `${'{"a":'.repeat(1200)}1${"}".repeat(1200)}`],
  ["repeated keys", '{"a":1,"a":{"b":[null]}}'],
  ["invalid", '{"a"'],
  ["null", "null"],
];
for (const [what, json] of documents) {
  test(`embedded JSON: ${what}`, () => compare(managedFields(json), schemas[0] as Struct, what));
}

test("quantities that are not canonical, or invalid", () => {
  for (const text of ["1024Mi", "1000m", "+5", "0.5Gi", "", "nope", " 1"]) {
    const quantity = bytes(0x0a, text.length, text);
    const entry = bytes(0x0a, 1, "k", 0x12, quantity.length, quantity);
    const spec = bytes(0x0a, entry.length, entry);
    compare(bytes(0x12, spec.length, spec), builtinSchema("io.k8s.api.core.v1.ResourceQuota"), text);
  }
});
