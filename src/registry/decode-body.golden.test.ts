/** Damaged bodies of all kinds, and how upstream's decoders read them. Recorded by `npm run golden damaged-bodies`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { builtinCatalog } from "../../test/support/builtin-catalog.ts";
import { ApiError } from "../apimachinery/errors.ts";
import { parseGroupVersion } from "../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../catalog/builtin-schemas.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import { type ExpectedKind, strictError } from "./body-kind.ts";
import { type DecodeOptions, decodeBody } from "./decode-body.ts";

const formats = ["json", "yaml", "protobuf"] as const;

interface Row {
  readonly format: (typeof formats)[number];
  readonly apiVersion: string;
  readonly kind: string;
  /** In base64. */
  readonly body: string;
  readonly error?: string;
  readonly problems?: readonly string[];
  readonly json?: string;
}

const text = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/damaged.jsonl.gz"))).toString();
const rows = text
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);
const catalog = builtinCatalog("api/all=true");

function expectedOf({ apiVersion, kind }: Row): ExpectedKind {
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  return { group, version, kind, schema: builtinSchema(definitionOf(group, version, kind) as string) };
}

interface Outcome {
  readonly json?: string;
  readonly rejection?: string;
}

function decode(row: Row, fieldValidation: DecodeOptions["fieldValidation"]): Outcome {
  const expected = expectedOf(row);
  const mediaType = {
    json: "application/json",
    yaml: "application/yaml",
    protobuf: "application/vnd.kubernetes.protobuf",
  }[row.format];
  try {
    const object = decodeBody(Buffer.from(row.body, "base64"), expected, {
      mediaType,
      catalog,
      fieldValidation,
      warnings: [],
    });
    return {
      json: comparable(
        encodeObject({ ...object, kind: row.kind, apiVersion: row.apiVersion }, expected.schema).json.toString(),
      ),
    };
  } catch (error) {
    if (error instanceof ApiError) return { rejection: error.status.message };
    throw error;
  }
}

/** Stored objects have no resourceVersion; Go writes bytes that are not UTF-8 one by one. */
function comparable(json: string): string {
  const object = JSON.parse(json);
  delete object.metadata?.resourceVersion;
  return JSON.stringify(object).replace(/\ufffd+/g, "\ufffd");
}

/** Errors that differ from upstream's, and why. */
const differences: readonly [why: string, format: Row["format"], theirs: RegExp, ours: RegExp][] = [
  ["characters are checked first", "yaml", /^yaml: /, /yaml: (?:control characters are not allowed|.* UTF-8 octet)/],
  ["the depth limit is lower", "yaml", /^yaml: /, /yaml: line \d+: exceeded max depth of 1000 /],
  ["a key without a colon is found first", "yaml", /did not find expected key$/, /could not find expected ':'/],
  [
    "a map entry ends at its length",
    "protobuf",
    /^proto: (?:negative length|ObjectMeta: illegal tag)/,
    /unexpected EOF/,
  ],
];

for (const format of formats) {
  const ofFormat = rows.filter((row) => row.format === format);
  test(`${format}: accepts and rejects the same bodies as upstream`, () => {
    for (const row of ofFormat) {
      const { json, rejection } = decode(row, "Ignore");
      if (row.json === undefined) assert.ok(rejection !== undefined, `read: ${row.error} ${row.body}`);
      // Upstream's decoder reads map entries beyond their length.
      else if (format !== "protobuf" || !rejection?.endsWith(": unexpected EOF"))
        assert.equal(json, comparable(row.json), `${rejection} ${row.body}`);
    }
  });

  test(`${format}: reports upstream's strict errors`, () => {
    for (const row of ofFormat.filter(({ problems }) => problems !== undefined)) {
      const { rejection = "" } = decode(row, "Strict");
      assert.ok(rejection.endsWith(strictError(row.problems ?? [])), `${rejection}\n${row.problems}\n${row.body}`);
    }
  });

  test(`${format}: reports upstream's errors`, () => {
    const unused = new Set(differences.filter(([, of]) => of === format));
    for (const row of ofFormat) {
      const { rejection = "" } = decode(row, "Ignore");
      if (row.error === undefined || rejection.includes(row.error)) continue;
      const reason = differences.find(
        ([, of, theirs, ours]) => of === format && theirs.test(row.error as string) && ours.test(rejection),
      );
      assert.ok(reason !== undefined, `${row.error} is here ${rejection}\n${row.body}`);
      unused.delete(reason);
    }
    assert.deepEqual(
      [...unused].map(([why]) => why),
      [],
    );
  });
}
