/** CBOR that upstream writes, and how it decodes damaged bytes. Recorded by `npm run golden cbor`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import { cborItems } from "../../http/representation/event-framing.ts";
import { encodeAny } from "../json/encode-any.ts";
import { parseJson } from "../json/parse.ts";
import { decodeJson } from "../schema/decode.ts";
import { encodeObject } from "../schema/encode.ts";
import type { Struct } from "../schema/schema.ts";
import { cborTypeMeta, decodeAnyCbor, decodeCbor } from "./decode.ts";
import { encodeAnyCbor, encodeCbor } from "./encode.ts";
import { CborError } from "./wire.ts";

const text = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/golden.jsonl.gz"))).toString();

interface Row {
  readonly op: "encode" | "encodeAny" | "event" | "decode" | "decodeAny";
  readonly strict?: boolean;
  readonly type?: "ADDED";
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly schema: Struct | undefined;
  /** The JSON text, with members in their original order. */
  readonly json: Buffer;
  readonly cbor: Buffer;
  readonly problems?: string;
  readonly error?: string;
}

const rows = text.trim().split("\n").map(parseRow);

function parseRow(line: string): Row {
  const row = JSON.parse(line) as Omit<Row, "schema" | "json" | "cbor"> & { cbor?: string };
  const start = line.indexOf('"json":');
  const json = start < 0 ? "" : line.slice(start + '"json":'.length, line.lastIndexOf(',"cbor":'));
  return { ...row, schema: schemaOf(row), json: Buffer.from(json), cbor: Buffer.from(row.cbor ?? "", "base64") };
}

/** @returns undefined for custom resources */
function schemaOf({ apiVersion = "", kind = "" }: Pick<Row, "apiVersion" | "kind">): Struct | undefined {
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  const definition = definitionOf(group, version, kind);
  return definition === undefined ? undefined : builtinSchema(definition);
}

function objectOf({ json, schema }: Row): Record<string, unknown> {
  return schema === undefined ? (parseJson(json).value as Record<string, unknown>) : decodeJson(json, schema).object;
}

function encode(row: Row): Buffer {
  return row.schema === undefined ? encodeAnyCbor(objectOf(row)) : encodeCbor(objectOf(row), row.schema);
}

/** @returns the JSON, the strict problems, and the error */
function decode({
  cbor,
  schema,
  strict = false,
  apiVersion,
  kind,
}: Row): [json: string, problems: string, error: string] {
  try {
    if (schema === undefined) return [sorted(encodeAny(decodeAnyCbor(cbor))), "", ""];
    cborTypeMeta(cbor);
    const { object, problems } = decodeCbor(cbor, schema, { strict });
    return [
      written({ ...object, apiVersion, kind }, schema),
      problems.map((problem) => `strict decoding error: ${problem}`).join(),
      "",
    ];
  } catch (error) {
    if (error instanceof CborError) return ["", "", error.message];
    throw error;
  }
}

function written(object: object, schema: Struct): string {
  return sorted(encodeObject(object, schema).json.toString());
}

/** The JSON text with sorted keys. */
function sorted(json: string): string {
  const order = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(order);
    const members = Object.entries(value).map(([key, member]) => [key, order(member)] as const);
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify(order(JSON.parse(json)));
}

function expectedResult(row: Row): [json: string, problems: string, error: string] {
  const { schema, json, problems = "", error = "", apiVersion, kind } = row;
  if (error !== "") return ["", "", error];
  if (schema === undefined) return [sorted(json.toString().replace(/^null$/, "{}")), problems, ""];
  return [written({ ...decodeJson(json, schema).object, apiVersion, kind }, schema), problems, ""];
}

test("encodes objects, events and custom resources exactly as upstream does", () => {
  for (const row of rows) {
    if (row.op === "encode" || row.op === "encodeAny")
      assert.ok(encode(row).equals(row.cbor), `${row.apiVersion} ${row.kind} ${row.json}`);
    else if (row.op === "event")
      assert.ok(
        cborItems.join([{ type: row.type as "ADDED", object: encode(row) }]).equals(row.cbor),
        String(row.type),
      );
  }
});

test("decodes upstream's data to the same object", () => {
  for (const row of rows) {
    if (row.op !== "encode" || row.schema === undefined) continue;
    const { object, problems } = decodeCbor(row.cbor, row.schema, { strict: true });
    assert.deepEqual(problems, []);
    assert.equal(
      encodeObject(object, row.schema).json.toString(),
      encodeObject(objectOf(row), row.schema).json.toString(),
    );
  }
});

test("decodes or rejects corrupted data as upstream does", () => {
  for (const row of rows) {
    if (row.op === "decode" || row.op === "decodeAny")
      assert.deepEqual(decode(row), expectedResult(row), row.cbor.toString("hex"));
  }
});
