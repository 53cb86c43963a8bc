/** Objects of every kind as upstream encodes them. Recorded by `npm run golden protobuf`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import { builtinDefinitionNames, builtinSchema, builtinType, definitionOf } from "../../catalog/builtin-schemas.ts";
import { conform, decodeJson } from "../schema/decode.ts";
import { encodeObject } from "../schema/encode.ts";
import { decodeProtobuf } from "./decode.ts";
import { encodeProtobuf } from "./encode.ts";
import { readEnvelope, wrapInEnvelope } from "./envelope.ts";

const text = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/golden.jsonl.gz"))).toString();

interface Row {
  readonly apiVersion: string;
  readonly kind: string;
  readonly definition: string;
  /** The JSON text, with members in their original order. */
  readonly json: Buffer;
  readonly protobuf: Buffer;
}

const rows = text.trim().split("\n").flatMap(parseRow);

function parseRow(line: string): Row[] {
  const { apiVersion, kind, protobuf } = JSON.parse(line) as Record<"apiVersion" | "kind" | "protobuf", string>;
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  const definition = definitionOf(group, version, kind);
  if (definition === undefined) return []; // A kind of the Go library that servers no longer serve.
  const json = Buffer.from(line.slice(line.indexOf('"json":') + '"json":'.length, line.lastIndexOf(',"protobuf":')));
  return [{ apiVersion, kind, definition, json, protobuf: Buffer.from(protobuf, "base64") }];
}

test("encodes objects exactly as upstream does", () => {
  for (const { apiVersion, kind, definition, json, protobuf } of rows) {
    const { object, problems } = decodeJson(json, builtinSchema(definition));
    assert.deepEqual(problems, [], definition);
    const written = wrapInEnvelope(apiVersion, kind, encodeProtobuf(object, builtinSchema(definition)));
    assert.ok(written.equals(protobuf), definition);
  }
});

test("decodes upstream's messages to the JSON of the same object", () => {
  for (const { apiVersion, kind, definition, json, protobuf } of rows) {
    const schema = builtinSchema(definition);
    const envelope = readEnvelope(protobuf);
    assert.deepEqual([envelope.apiVersion, envelope.kind], [apiVersion, kind]);
    const { object } = conform(decodeProtobuf(envelope.raw, schema), schema);
    assert.equal(
      jsonOf({ ...object, kind, apiVersion }, definition),
      jsonOf(decodeJson(json, schema).object, definition),
    );
  }
});

function jsonOf(object: object, definition: string): string {
  return encodeObject(object, builtinSchema(definition)).json.toString();
}

/** Packages and kinds that servers do not serve. */
const unserved =
  /\.(admission\.v1beta1|apidiscovery\.v2beta1|apiextensions\.v1beta1|audit\.v1|auth\w+\.v1beta1|imagepolicy\.v1alpha1|meta\.v1beta1)\.|\.(TableOptions|WatchEvent)$/;

test("the recorded file has every kind", () => {
  const known = new Set(rows.map(({ definition }) => definition));
  const missing = builtinDefinitionNames().filter((name) => {
    const type = builtinType(name);
    return (
      type.kind === "struct" &&
      type.protobufName !== undefined &&
      type.groupVersionKinds !== undefined &&
      !known.has(name) &&
      !unserved.test(name)
    );
  });
  assert.deepEqual(missing, []);
});
