/**
 * Random schemas and objects with upstream's results: pruned, defaulted and rejected values. Recorded by
 * `npm run golden custom-resources`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { validateEmbedded } from "../../apis/apiextensions/embedded-rules.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { parseJson } from "../json/parse.ts";
import { cloneJson, identical } from "../json/values.ts";
import { coerceMetadata } from "./coerce-metadata.ts";
import { Correlation } from "./correlation.ts";
import type { JsonSchemaProps } from "./json-schema-props.ts";
import { pruneAndReport } from "./prune.ts";
import { pruneNulls, setDefaults } from "./set-defaults.ts";
import { asResourceRoot, parseStructuralSchema } from "./structural-schema.ts";
import { valueValidator } from "./validate/value-validator.ts";
import { validateListTypes } from "./validate-list-types.ts";

type Cause = readonly [reason: string, field: string, message: string];

interface Row {
  readonly schema: JsonSchemaProps;
  readonly value: unknown;
  readonly old?: unknown;
  readonly want: {
    readonly unknown?: readonly string[];
    readonly pruned: unknown;
    readonly defaulted: unknown;
    readonly coercion?: readonly Cause[];
    readonly errors?: readonly Cause[];
    readonly listErrors?: readonly Cause[];
    readonly metaErrors?: readonly Cause[];
  };
}

const objectMeta = builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

function textsOf(check: (errors: FieldErrors) => void): string[] {
  const errors = new FieldErrors();
  check(errors);
  return errors.causes.map(({ reason, field, message }) => [reason, field, message].join(" · ")).sort();
}

const joined = (causes: readonly Cause[] = []): string[] => causes.map((cause) => cause.join(" · ")).sort();

function check(line: string): void {
  const { schema, value, old, want } = parseJson(Buffer.from(line)).value as Row;
  const structure = parseStructuralSchema(schema);
  const pruned = cloneJson(value);
  assert.deepEqual(pruneAndReport(pruned, asResourceRoot(structure)), want.unknown ?? [], "unknown fields");
  assert.ok(identical(pruned, want.pruned), "pruned");
  pruneNulls(pruned, structure);
  setDefaults(pruned, structure);
  assert.ok(identical(pruned, want.defaulted), "defaulted");
  const validator = valueValidator(schema);
  const found = textsOf((errors) => {
    if (old === undefined) validator.validate(value, "", errors);
    else validator.validateUpdate(new Correlation(value, old, structure), "", errors);
  });
  assert.deepEqual(found, joined(want.errors), "errors");
  assert.deepEqual(
    textsOf((errors) => validateListTypes(value, structure, "", errors)),
    joined(want.listErrors),
    "list types",
  );
  assert.deepEqual(
    textsOf((errors) => validateEmbedded(value, structure, "", errors)),
    joined(want.metaErrors),
    "metadata",
  );
  const problem = coerceMetadata(cloneJson(value), structure, "", { objectMeta, invalid: "reject" });
  assert.equal(problem !== undefined, want.coercion !== undefined, "coercion");
}

const file = process.env.COXSWAIN_OBJECTS ?? new URL("testdata/objects.jsonl.gz", import.meta.url);
const bytes = readFileSync(file);
const text = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;

test("prunes, defaults and rejects objects as upstream does", () => {
  for (const [index, line] of text.toString().trim().split("\n").entries()) {
    try {
      check(line);
    } catch (error) {
      if (error instanceof assert.AssertionError) error.message = `line ${index + 1}: ${error.message}\n${line}`;
      throw error;
    }
  }
});
