/**
 * Upstream's results for validation rules: errors when the definition is written, estimated costs, errors about objects, and their cost.
 * `npm run golden cel-rules` records the files in testdata/ again, except policies.jsonl.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import {
  declTypeOfSchema,
  isEmbeddedResource,
  type JsonSchema,
  propertiesOf,
  valuesOf,
} from "../lib/cel/schema-types/index.ts";
import { checkRuleFields } from "./check-rule-fields.ts";
import { checkRules } from "./check-rules.ts";
import { compileRule, ruleEnvironments } from "./compile-rule.ts";
import { compileRules, rulesOf } from "./compile-rules.ts";
import { newExpressions } from "./environments.ts";
import { runtimeBudget } from "./limits.ts";
import { maxRepetitions } from "./rule-costs.ts";
import { validateRules } from "./validate-rules.ts";

interface Row {
  readonly what: string;
  readonly schema: JsonSchema;
  readonly object?: unknown;
  readonly oldObject?: unknown;
  readonly budget?: number;
  readonly rules?: readonly string[];
  readonly each?: readonly Results[];
}

interface Results {
  readonly check?: readonly string[];
  readonly costs?: readonly {
    at: string;
    max: number | bigint;
    repetitions: number;
    message?: number;
    transition?: boolean;
  }[];
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
  readonly spent?: number;
}

/** Costs are uint64. */
function parse(line: string): Row & Results {
  return JSON.parse(line, (_key, value, context?: { source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^[0-9]+$/.test(context?.source ?? "")
      ? BigInt(context?.source as string)
      : value,
  );
}

/**
 * `rules.jsonl` is written by hand. The others are random: rules over data of all types, and
 * schemas with old and new objects.
 */
const rows = ["rules.jsonl", "random-rules.jsonl", "random-schemas.jsonl"].flatMap((file) =>
  readFileSync(join(import.meta.dirname, "testdata", file), "utf8")
    .trimEnd()
    .split("\n")
    .map(parse),
);

const path = "spec.validation.openAPIV3Schema";

function textsOf(errors: FieldErrors): string[] {
  return errors.causes.map(({ field, message }) => `${field}: ${message}`).sort();
}

function nodes(
  schema: JsonSchema,
  at: string,
  isRoot: boolean,
): readonly [schema: JsonSchema, at: string, isRoot: boolean][] {
  const values = valuesOf(schema);
  const below = [...(propertiesOf(schema) ?? [])].sort(([left], [right]) => (left < right ? -1 : 1));
  return [
    [schema, at, isRoot],
    ...(schema.items === undefined ? [] : nodes(schema.items, `${at}.items`, isEmbeddedResource(schema.items))),
    ...(values === undefined ? [] : nodes(values, `${at}.additionalProperties`, isEmbeddedResource(values))),
    ...below.flatMap(([name, property]) => nodes(property, `${at}.properties[${name}]`, isEmbeddedResource(property))),
  ];
}

function checked(schema: JsonSchema): string[] {
  const errors = new FieldErrors();
  for (const [node, at] of nodes(schema, path, true)) checkRuleFields(node, at, errors);
  checkRules(schema, path, errors);
  return textsOf(errors);
}

function costsOf(schema: JsonSchema): unknown[] {
  return nodes(schema, "", true).flatMap(([node, at, isRoot]) => {
    const type = declTypeOfSchema(node, isRoot);
    if (type === undefined) return [];
    const environments = ruleEnvironments(newExpressions(), type);
    return rulesOf(node).flatMap((rule, index) => {
      const { expression, messageExpression, usesOldSelf } = compileRule(rule, node, environments);
      if (expression?.error !== undefined) return [];
      const repetitions = expression === undefined ? 0n : maxRepetitions(type);
      const cost = { at: `${at}[${index}]`, max: String(expression?.costMax ?? 0), repetitions: String(repetitions) };
      const message = messageExpression?.costMax ?? 0n;
      return [
        {
          ...cost,
          ...(message === 0n ? {} : { message: String(message) }),
          ...(usesOldSelf ? { transition: true } : {}),
        },
      ];
    });
  });
}

function validated({ schema, object, oldObject, budget = runtimeBudget }: Row): Results {
  const root = compileRules(schema);
  if (root === undefined) return { errors: [], warnings: [], spent: 0 };
  const errors = new FieldErrors();
  const warnings: string[] = [];
  const gate = { keepUnchanged: true, optionalOldSelf: true };
  const left = validateRules(root, { object, oldObject, errors, warn: (text) => warnings.push(text), ...gate, budget });
  return { errors: textsOf(errors), warnings: warnings.sort(), spent: left < 0 ? left : budget - left };
}

function resultsOf(row: Row & Results): unknown {
  const results = { check: checked(row.schema), costs: costsOf(row.schema) };
  return row.object === undefined ? results : { ...results, ...validated(row) };
}

function expected(row: Row, { check = [], costs = [], errors = [], warnings = [], spent }: Results): unknown {
  const costTexts = costs.map(({ max, repetitions, message, ...rest }) => {
    return {
      ...rest,
      max: String(max),
      repetitions: String(repetitions),
      ...(message === undefined ? {} : { message: String(message) }),
    };
  });
  // The check of the schema itself reports this error.
  const isRuleError = (text: string): boolean => !text.endsWith("must be empty to be structural");
  const results = { check: check.filter(isRuleError).sort(), costs: costTexts };
  return row.object === undefined
    ? results
    : { ...results, errors: errors.toSorted(), warnings: warnings.toSorted(), spent };
}

for (const row of rows) {
  if (row.rules === undefined) test(row.what, () => assert.deepEqual(resultsOf(row), expected(row, row)));
  for (const [index, rule] of (row.rules ?? []).entries()) {
    test(`${row.what}: ${rule}`, () => {
      const schema = { ...row.schema, "x-kubernetes-validations": [{ rule }] };
      assert.deepEqual(resultsOf({ ...row, schema }), expected(row, row.each?.[index] as Results));
    });
  }
}
