/**
 * Texts as upstream's library converts them. To add a text, add a line `{"in":"…"}` to the fixture and run
 * `npm run golden yaml`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encodeAny, sortedKeys } from "../json/encode-any.ts";
import { NumberLiteral } from "../json/number-literal.ts";
import { decodeYaml, decodeYamlInSteps, strictYamlError, YamlError } from "./decode.ts";
import { yamlOfJson, yamlPiecesOfJson } from "./encode.ts";

interface Row {
  readonly in?: string;
  readonly json?: string;
  readonly strict?: string;
  readonly error?: string;
  readonly out?: string;
}

const text = readFileSync(join(import.meta.dirname, "testdata/golden.jsonl"), "utf8");
const rows = text
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

/** The results that differ from upstream's, and why. */
const differences: Readonly<Record<string, Row>> = {
  // JSON numbers do not distinguish negative zero.
  "v: -0.0\n": { json: '{"v":0}' },
  "[-0.0]\n": { json: "[0]" },
};

function decode(source: string): Row {
  try {
    const { value, strictErrors } = decodeYaml(Buffer.from(source));
    return {
      in: source,
      json: jsonOf(value),
      ...(strictErrors.length > 0 && { strict: strictYamlError(strictErrors) }),
    };
  } catch (error) {
    if (error instanceof YamlError) return { in: source, error: error.message };
    throw error;
  }
}

/** The JSON text with sorted keys, and with numbers as they were written. */
function jsonOf(value: unknown): string {
  if (value instanceof NumberLiteral) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return encodeAny(value);
  const object = value as Record<string, unknown>;
  return `{${sortedKeys(object)
    .map((key) => `${encodeAny(key)}:${jsonOf(object[key])}`)
    .join(",")}}`;
}

test("decodes texts in steps with the same results", async () => {
  for (const { in: source } of rows) {
    if (source === undefined) continue;
    const inSteps = await decodeYamlInSteps(Buffer.from(source), async () => {}).catch(String);
    let whole: unknown;
    try {
      whole = decodeYaml(Buffer.from(source));
    } catch (error) {
      whole = String(error);
    }
    assert.deepEqual(inSteps, whole, source);
  }
});

test("decodes texts as upstream's library does", () => {
  for (const row of rows) {
    if (row.in === undefined) continue;
    const expected = Object.hasOwn(differences, row.in) ? { in: row.in, ...differences[row.in] } : row;
    assert.deepEqual(decode(row.in), expected);
  }
});

test("encodes JSON as upstream's library does", () => {
  for (const { in: source, json, out } of rows) {
    if (source !== undefined || json === undefined) continue;
    // Bare, it would be read as a merge.
    const expected = json.includes('"<<"') ? out?.replaceAll("<<", '"<<"') : out;
    assert.equal(yamlOfJson(Buffer.from(json)), expected, json);
    assert.equal([...yamlPiecesOfJson(Buffer.from(json), 1)].join(""), expected, json);
  }
});

test("decoding the encoded YAML returns the same value", () => {
  for (const { in: source, json } of rows) {
    if (source !== undefined || json === undefined) continue;
    const { value, strictErrors } = decodeYaml(Buffer.from(yamlOfJson(Buffer.from(json))));
    assert.equal(jsonOf(value), jsonOf(decodeYaml(Buffer.from(json)).value), json);
    assert.deepEqual(strictErrors, []);
  }
});
