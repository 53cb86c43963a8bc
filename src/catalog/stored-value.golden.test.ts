/** Stored objects as kube-apiserver decodes them. Recorded by `npm run golden stored-values`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { builtinConversions, builtinStrategies, storedConversions } from "../apis/index.ts";
import { decodeJson } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import { builtinDefinitions } from "./builtin-definitions.ts";
import { decodeValue, type StoredKind } from "./stored-value.ts";

interface Row {
  readonly kind: string;
  readonly stored: string;
  /** The object at the storage version; or the error. */
  readonly object?: unknown;
  readonly error?: string;
}

const lines = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/stored-values.jsonl.gz")))
  .toString()
  .trim()
  .split("\n");

const definitions = builtinDefinitions({
  strategies: builtinStrategies,
  conversions: builtinConversions,
  storedConversions,
  served: { serves: () => true },
});

function kindNamed(name: string): StoredKind {
  const definition = definitions.find(({ storage, kind, group }) => kind === name && storage?.group === group);
  assert.ok(definition?.storage !== undefined, name);
  return { form: definition.storage, definition, gates: undefined };
}

for (const [name, rows] of Map.groupBy(lines, (line) => (JSON.parse(line) as Row).kind)) {
  test(`decodes stored values of a ${name} as upstream does`, () => {
    const kind = kindNamed(name);
    for (const line of rows) {
      const { stored, error } = JSON.parse(line) as Row;
      const value = Buffer.from(stored, "base64");
      if (error === undefined) checkObject(value, kind, line);
      else assert.throws(() => decodeValue(value, kind), { message: withSchemeName(error) }, stored);
    }
  });
}

function checkObject(value: Buffer, kind: StoredKind, line: string): void {
  const { object, schema } = decodeValue(value, kind);
  const upstream = Buffer.from(line.slice(line.indexOf('"object":') + '"object":'.length, -1));
  assert.equal(
    encodeObject(object, schema).json.toString(),
    encodeObject(decodeJson(upstream, schema).object, schema).json.toString(),
  );
}

/** The scheme has the name of the source line that creates it, which differs in the program that recorded. */
function withSchemeName(message: string): string {
  return message.replace(/in scheme ".*"$/, 'in scheme "pkg/api/legacyscheme/scheme.go:30"');
}
