/**
 * Compares the errors of random objects of every kind with rules with those of upstream's generated
 * validation, which tools/golden/kubernetes/declarative-validation records.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import { FieldErrors } from "../../field-errors.ts";
import { compileRules } from "./compile.ts";

interface Case {
  readonly definition: string;
  readonly options: readonly string[];
  readonly object: unknown;
  readonly old?: unknown;
}

/** Type, field, message, origin, level. */
type Found = readonly string[];

const lines = gunzipSync(readFileSync(`${import.meta.dirname}/testdata/errors.jsonl.gz`))
  .toString()
  .trimEnd()
  .split("\n");
const recorded = Array.from({ length: lines.length / 2 }, (_, at) => [
  JSON.parse(lines[2 * at] as string),
  JSON.parse(lines[2 * at + 1] as string),
]);
const byKind = Map.groupBy(recorded as [Case, Found[]][], ([{ definition }]) => definition);

function validate({ definition, options, object, old }: Case): Found[] {
  const rules = compileRules(builtinSchema(definition));
  assert.ok(rules !== undefined, `${definition} has no rules`);
  const errors = new FieldErrors();
  rules.check({ update: old !== undefined, hasOption: (name) => options.includes(name), errors }, "", object, old);
  return errors.causes.map((cause) => {
    const mark = errors.marks.get(cause);
    return [cause.reason ?? "", cause.field ?? "", cause.message ?? "", mark?.origin ?? "", mark?.level ?? ""];
  });
}

/**
 * Go iterates over maps in random order, so the errors of kinds with rules for the content of maps
 * have no order.
 */
const inAnyOrder = /ResourceSlice$/;

for (const [definition, cases] of byKind) {
  test(`finds upstream's errors in ${cases.length} objects of ${definition}`, () => {
    for (const [one, expected] of cases) {
      const found = validate(one);
      if (!inAnyOrder.test(definition)) assert.deepEqual(found, expected, JSON.stringify(one));
      assert.deepEqual(found.map(String).sort(), expected.map(String).sort(), JSON.stringify(one));
    }
  });
}

test("the objects fail rules of every marker", () => {
  const origins = new Set(
    recorded.flatMap(([, errors]) => errors.map(([reason, , , origin]: Found) => `${reason} ${origin}`)),
  );
  assert.deepEqual([...origins].sort(), [
    "FieldValueDuplicate ",
    "FieldValueForbidden ",
    "FieldValueInvalid format=k8s-extended-resource-name",
    "FieldValueInvalid format=k8s-label-key",
    "FieldValueInvalid format=k8s-long-name",
    "FieldValueInvalid format=k8s-long-name-caseless",
    "FieldValueInvalid format=k8s-path-segment-name",
    "FieldValueInvalid format=k8s-resource-fully-qualified-name",
    "FieldValueInvalid format=k8s-resource-pool-name",
    "FieldValueInvalid format=k8s-short-name",
    "FieldValueInvalid format=k8s-uuid",
    "FieldValueInvalid immutable",
    "FieldValueInvalid maximum",
    "FieldValueInvalid minimum",
    "FieldValueInvalid union",
    "FieldValueInvalid update",
    "FieldValueInvalid zeroOrOneOf",
    "FieldValueNotSupported ",
    "FieldValueRequired ",
    "FieldValueTooLong format=k8s-resource-fully-qualified-name",
    "FieldValueTooLong format=k8s-resource-pool-name",
    "FieldValueTooLong maxBytes",
    "FieldValueTooLong maxLength",
    "FieldValueTooMany maxItems",
  ]);
});
