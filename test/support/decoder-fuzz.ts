/**
 * Fuzz tests for the decoders of bodies: any bytes give an object or a 400, and decoded objects can
 * be encoded and decoded again.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ApiError } from "../../src/apimachinery/errors.ts";
import { parseGroupVersion } from "../../src/apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { decodeCbor } from "../../src/lib/cbor/decode.ts";
import { encodeCbor } from "../../src/lib/cbor/encode.ts";
import { cborType } from "../../src/lib/cbor/media-types.ts";
import { decodeProtobuf } from "../../src/lib/protobuf/decode.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { conform, decodeJson } from "../../src/lib/schema/decode.ts";
import { encodeObject } from "../../src/lib/schema/encode.ts";
import type { Struct } from "../../src/lib/schema/schema.ts";
import { yamlOfJson } from "../../src/lib/yaml/encode.ts";
import type { ExpectedKind } from "../../src/registry/body-kind.ts";
import { decodeBody } from "../../src/registry/decode-body.ts";
import { builtinCatalog } from "./builtin-catalog.ts";
import { cborWords, type Dictionary, jsonWords, messageWords, mutate, yamlWords } from "./mutate.ts";
import { seededRandom } from "./seeded-random.ts";

export const decoderNames = ["json", "yaml", "protobuf", "cbor"] as const;
export type DecoderName = (typeof decoderNames)[number];

/**
 * Decodes one random body.
 *
 * @param seed determines the body
 * @returns whether it was decoded
 * @throws AssertionError, or an error that the decoder must not throw
 */
type Fuzzer = (seed: number) => boolean;

/** A body, and the object that it encodes or encoded before it was damaged. */
export interface Sample {
  readonly expected: ExpectedKind;
  readonly bytes: Buffer;
}

interface Format {
  readonly mediaType: string;
  readonly words: Dictionary;
  readonly bytesOf: (row: GoldenRow, schema: Struct) => Buffer;
}

interface GoldenRow {
  readonly apiVersion: string;
  readonly kind: string;
  readonly json: Record<string, unknown>;
  /** As base64. */
  readonly protobuf: string;
}

const formats: Readonly<Record<DecoderName, Format>> = {
  json: { mediaType: "application/json", words: jsonWords, bytesOf: ({ json }) => Buffer.from(JSON.stringify(json)) },
  yaml: {
    mediaType: "application/yaml",
    words: yamlWords,
    bytesOf: ({ json }) => Buffer.from(yamlOfJson(Buffer.from(JSON.stringify(json)))),
  },
  protobuf: {
    mediaType: "application/vnd.kubernetes.protobuf",
    words: messageWords,
    bytesOf: ({ protobuf }) => Buffer.from(protobuf, "base64"),
  },
  cbor: {
    mediaType: cborType,
    words: cborWords,
    bytesOf: ({ json }, schema) => encodeCbor(decodeJson(Buffer.from(JSON.stringify(json)), schema).object, schema),
  },
};

/** Limit of the size of bodies; larger ones only take longer. */
const sampleBytesMax = 16 << 10;

export function decoderFuzzer(name: DecoderName): Fuzzer {
  const { mediaType } = formats[name];
  const catalog = builtinCatalog("api/all=true");
  const damaged = damagedBodies(name, { sampleBytesMax });
  return (seed) => {
    const { expected, bytes } = damaged(seed);
    const fieldValidation = (["Ignore", "Warn", "Strict"] as const)[seed % 3] as "Ignore";
    let object: object;
    try {
      object = decodeBody(bytes, expected, { mediaType, catalog, fieldValidation, warnings: [] });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      assert.equal(error.status.code, 400);
      assert.notEqual(error.status.message, "");
      return false;
    }
    checkWritable(object, expected.schema);
    return true;
  };
}

interface DamageOptions {
  /** Limit of the bytes of bodies before they are damaged. */
  readonly sampleBytesMax: number;
  /** Changes the encoded object before it is damaged; not for protobuf. */
  readonly prepare?: (object: Record<string, unknown>) => Record<string, unknown>;
}

/** @returns a function that returns the same body for a seed each time */
export function damagedBodies(
  name: DecoderName,
  { sampleBytesMax, prepare = (object) => object }: DamageOptions,
): (seed: number) => Sample {
  const { words, bytesOf } = formats[name];
  const samples = goldenRows()
    .flatMap((row) => sampleOf({ ...row, json: prepare(row.json) }, bytesOf))
    .filter(({ bytes }) => bytes.length <= sampleBytesMax);
  const others = samples.map(({ bytes }) => bytes);
  return (seed) => {
    const random = seededRandom(seed);
    const { expected, bytes } = samples[random(samples.length)] as Sample;
    return { expected, bytes: mutate(bytes, { others, words, random }) };
  };
}

export function goldenRows(): GoldenRow[] {
  const file = join(import.meta.dirname, "../../src/lib/protobuf/testdata/golden.jsonl.gz");
  return gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as GoldenRow);
}

function sampleOf(row: GoldenRow, bytesOf: Format["bytesOf"]): Sample[] {
  const { group, version } = parseGroupVersion(row.apiVersion) as { group: string; version: string };
  const definition = definitionOf(group, version, row.kind);
  if (definition === undefined) return [];
  const schema = builtinSchema(definition);
  return [{ expected: { group, version, kind: row.kind, schema }, bytes: bytesOf(row, schema) }];
}

/**
 * Encodes an object in every encoding, and in the storage encoding that decodes to the same object.
 */
function checkWritable(object: object, schema: Struct): void {
  const { json } = encodeObject(object, schema);
  // Protobuf has unions without a member: JSON writes null for them, which decodes to nothing.
  const stored = json.includes(":null") ? encodeObject(decodeJson(json, schema).object, schema).json : json;
  const again = encodeObject(decodeJson(stored, schema).object, schema).json;
  assert.ok(again.equals(stored), `stored as ${stored}\nand read as ${again}`);
  yamlOfJson(json);
  decodeCbor(encodeCbor(object, schema), schema, { strict: true });
  conform(decodeProtobuf(encodeProtobuf(object, schema), schema), schema);
}
