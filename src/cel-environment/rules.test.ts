/** Rules of custom resources: what they say of objects, and in what words. */
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
  readonly what: string;
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
    what: "a rule at the root that holds",
    schema: object({ replicas: int, max: int }, rule("self.replicas <= self.max")),
    object: { replicas: 1, max: 2 },
    errors: [],
  },
  {
    what: "a rule at the root that does not",
    schema: object({ replicas: int, max: int }, rule("self.replicas <= self.max")),
    object: { replicas: 3, max: 2 },
    errors: ["<nil>: Invalid value: failed rule: self.replicas <= self.max"],
  },
  {
    what: "a message, a reason and a path",
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
    what: "transition rules",
    schema: object({
      n: { ...int, ...rule("self >= oldSelf", { messageExpression: "'shrank from ' + string(oldSelf)" }) },
    }),
    object: { n: 1 },
    oldObject: { n: 2 },
    errors: ["n: Invalid value: 1: shrank from 2"],
  },
  {
    what: "what has not changed may stay",
    schema: object({ spec: object({ n: { ...int, ...rule("self > 1") } }) }),
    object: { spec: { n: 1 } },
    oldObject: { spec: { n: 1 } },
    errors: [],
    warnings: ["spec.n: Invalid value: 1: failed rule: self > 1"],
  },
];

/** Where upstream would say no. Source: docs/compatibility/admission.md */
const equalSets: readonly (readonly [what: string, items: JsonSchema, left: unknown[], right: unknown[]])[] = [
  [
    "times",
    { type: "string", format: "date-time" },
    ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"],
    ["2021-01-01T00:00:00Z", "2020-01-01T00:00:00Z"],
  ],
  ["durations", { type: "string", format: "duration" }, ["1h", "1s"], ["1s", "60m"]],
  ["numbers, some whole", { type: "number" }, [1, 2.5], [2.5, 1]],
];

for (const [what, items, left, right] of equalSets) {
  test(`sets of ${what} are equal in any order`, () => {
    const set: JsonSchema = { type: "array", items, maxItems: 5, "x-kubernetes-list-type": "set" };
    const schema = object({ left: set, right: set }, rule("self.left == self.right"));
    assert.deepEqual(validate({ what, schema, object: { left, right }, errors: [] }).errors, []);
  });
}

for (const row of rows) {
  test(row.what, () => {
    const { errors, warnings } = validate(row);
    assert.deepEqual(errors, row.errors);
    assert.deepEqual(warnings, row.warnings ?? []);
  });
}
