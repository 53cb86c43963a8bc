/** Errors and warnings of rules of custom resources. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import type { JsonSchema } from "../lib/cel/schema-types/index.ts";
import { compileRules } from "./compile-rules.ts";
import { validateRules } from "./validate-rules.ts";

const rule = (text: string, rest = {}) => ({ "x-kubernetes-validations": [{ rule: text, ...rest }] });
const object = (properties: { [name: string]: JsonSchema }, rest = {}): JsonSchema => ({
  type: "object",
  properties,
  ...rest,
});

interface Row {
  readonly title: string;
  readonly schema: JsonSchema;
  readonly object: unknown;
  readonly oldObject?: unknown;
  readonly errors: readonly string[];
  readonly warnings?: readonly string[];
}

function validate(row: Row): { errors: string[]; warnings: string[]; budget: number } {
  const root = compileRules(row.schema);
  assert(root !== undefined);
  const errors = new FieldErrors();
  const warnings: string[] = [];
  const budget = validateRules(root, {
    object: row.object,
    oldObject: row.oldObject,
    errors,
    warn: (message) => warnings.push(message),
    keepUnchanged: true,
    optionalOldSelf: true,
  });
  return { errors: errors.causes.map(({ field, message }) => `${field}: ${message}`), warnings, budget };
}

const int: JsonSchema = { type: "integer" };

const rows: readonly Row[] = [
  {
    title: "accepts an object that satisfies the rule at the root",
    schema: object({ replicas: int, max: int }, rule("self.replicas <= self.max")),
    object: { replicas: 1, max: 2 },
    errors: [],
  },
  {
    title: "rejects an object that violates the rule at the root",
    schema: object({ replicas: int, max: int }, rule("self.replicas <= self.max")),
    object: { replicas: 3, max: 2 },
    errors: ["<nil>: Invalid value: failed rule: self.replicas <= self.max"],
  },
  {
    title: "reports the message, reason and path of the rule",
    schema: object({
      spec: object(
        { n: int },
        rule("self.n > 1", { message: " too few ", reason: "FieldValueRequired", fieldPath: ".n" }),
      ),
    }),
    object: { spec: { n: 1 } },
    errors: ["spec.n: Required value: too few"],
  },
  {
    title: "runs a transition rule with the old value",
    schema: object({
      n: { ...int, ...rule("self >= oldSelf", { messageExpression: "'shrank from ' + string(oldSelf)" }) },
    }),
    object: { n: 1 },
    oldObject: { n: 2 },
    errors: ["n: Invalid value: 1: shrank from 2"],
  },
  {
    title: "warns of an unchanged value that violates a rule",
    schema: object({ spec: object({ n: { ...int, ...rule("self > 1") } }) }),
    object: { spec: { n: 1 } },
    oldObject: { spec: { n: 1 } },
    errors: [],
    warnings: ["spec.n: Invalid value: 1: failed rule: self > 1"],
  },
];

/** Sets that are not equal in kube-apiserver: see docs/compatibility/specification.md. */
const equalSets: readonly (readonly [name: string, items: JsonSchema, left: unknown[], right: unknown[]])[] = [
  [
    "times",
    { type: "string", format: "date-time" },
    ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"],
    ["2021-01-01T00:00:00Z", "2020-01-01T00:00:00Z"],
  ],
  ["durations", { type: "string", format: "duration" }, ["1h", "1s"], ["1s", "60m"]],
  ["numbers, some whole", { type: "number" }, [1, 2.5], [2.5, 1]],
];

for (const [name, items, left, right] of equalSets) {
  const title = `sets of ${name} are equal in any order`;
  test(title, () => {
    const set: JsonSchema = { type: "array", items, maxItems: 5, "x-kubernetes-list-type": "set" };
    const schema = object({ left: set, right: set }, rule("self.left == self.right"));
    assert.deepEqual(validate({ title, schema, object: { left, right }, errors: [] }).errors, []);
  });
}

for (const row of rows) {
  test(row.title, () => {
    const { errors, warnings } = validate(row);
    assert.deepEqual(errors, row.errors);
    assert.deepEqual(warnings, row.warnings ?? []);
  });
}
