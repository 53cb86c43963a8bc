/**
 * Properties of any schema and any value. COXSWAIN_TEST_FULL=1 tries more of them; SEED=n replays.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seed } from "../../../test/support/seed.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { cloneJson, identical } from "../json/values.ts";
import { Correlation } from "./correlation.ts";
import type { JsonSchemaProps } from "./json-schema-props.ts";
import { prune, pruneAndReport } from "./prune.ts";
import { pruneNulls, setDefaults } from "./set-defaults.ts";
import { asResourceRoot, parseStructuralSchema } from "./structural-schema.ts";
import { compileAccepts } from "./validate/accepts.ts";
import { explain } from "./validate/explain.ts";
import { ValueSchema } from "./validate/value-schema.ts";
import { valueValidator } from "./validate/value-validator.ts";

const runs = process.env.COXSWAIN_TEST_FULL === "1" ? 20_000 : 500;
const options = { numRuns: runs, seed };

const name = fc.constantFrom("a", "b", "c", "__proto__", "constructor");
const scalar = fc.constantFrom(null, true, 0, 1, 1.5, -2, "", "a", "ab", "x");

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie("value")), { maxLength: 3 }).map((entries) => objectOf(entries)),
  ),
}));

/** Objects with own members, also with names such as `__proto__`. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [key, member] of entries)
    Object.defineProperty(object, key, { value: member, writable: true, enumerable: true, configurable: true });
  return object;
}

const limits = fc.record(
  {
    minimum: fc.constantFrom(0, 1.5),
    maximum: fc.constantFrom(1, 2),
    multipleOf: fc.constantFrom(1, 0.5),
    maxLength: fc.constantFrom(0, 1),
    pattern: fc.constantFrom("^a", "b$"),
    maxItems: fc.constantFrom(0, 1),
    minProperties: fc.constantFrom(1, 2),
    required: fc.array(name, { maxLength: 1 }),
    enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
);

const { schema } = fc.letrec<{ schema: JsonSchemaProps }>((tie) => ({
  schema: fc
    .tuple(
      fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<JsonSchemaProps>(
          { type: "string" },
          { type: "integer" },
          { type: "number" },
          { "x-kubernetes-int-or-string": true },
        ),
        fc.constant<JsonSchemaProps>({ "x-kubernetes-preserve-unknown-fields": true }),
        tie("schema").map((items): JsonSchemaProps => ({ type: "array", items })),
        tie("schema").map((values): JsonSchemaProps => ({ type: "object", additionalProperties: values })),
        fc.array(fc.tuple(name, tie("schema")), { maxLength: 3 }).map(
          (entries): JsonSchemaProps => ({
            type: "object",
            properties: objectOf(entries) as Record<string, JsonSchemaProps>,
          }),
        ),
      ),
      fc.record(
        {
          nullable: fc.boolean(),
          default: value,
          limits,
          junctor: fc.constantFrom("anyOf", "oneOf", "allOf"),
          nested: limits,
        },
        { requiredKeys: [] },
      ),
    )
    .map(([body, { nullable, default: fallback, limits: own, junctor, nested }]) => ({
      ...body,
      ...own,
      ...(nullable !== undefined && { nullable }),
      ...(fallback !== undefined && fallback !== null && { default: fallback }),
      ...(junctor !== undefined && nested !== undefined && { [junctor]: [nested, {}] }),
    })),
}));

function holds(what: string, check: (source: JsonSchemaProps, data: unknown) => void): void {
  test(what, () => fc.assert(fc.property(schema, value, check), options));
}

holds("pruning a second time removes and reports nothing", (source, data) => {
  const root = asResourceRoot(parseStructuralSchema(source));
  const once = cloneJson(data);
  prune(once, root);
  const twice = cloneJson(once);
  assert.deepEqual(pruneAndReport(twice, root), []);
  assert.ok(identical(twice, once));
});

holds("pruning reports fields if and only if it removes some", (source, data) => {
  const structure = parseStructuralSchema(source);
  const pruned = cloneJson(data);
  const reported = pruneAndReport(pruned, structure);
  if (reported.every((path) => !/^(?:kind|apiVersion|metadata)\b/.test(path)))
    assert.equal(reported.length === 0, identical(pruned, data));
});

holds("setting defaults a second time changes nothing", (source, data) => {
  const structure = parseStructuralSchema(source);
  const once = cloneJson(data);
  pruneNulls(once, structure);
  setDefaults(once, structure);
  const twice = cloneJson(once);
  setDefaults(twice, structure);
  assert.ok(identical(twice, once));
});

holds("defaults are copies", (source, data) => {
  const structure = parseStructuralSchema(source);
  const before = JSON.stringify(source);
  const object = cloneJson(data);
  setDefaults(object, structure);
  spoil(object);
  assert.equal(JSON.stringify(source), before);
});

function spoil(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  for (const member of Object.values(part)) spoil(member);
  if (Array.isArray(part)) part.push("spoilt");
  else Object.assign(part, { spoilt: true });
}

holds("the fast check accepts a value if and only if there is no error to explain", (source, data) => {
  const valueSchema = new ValueSchema(source, "request");
  assert.equal(compileAccepts(valueSchema)(data), explain(data, valueSchema, undefined).length === 0);
});

holds("accepts unchanged values that the schema describes", (source, data) => {
  const structure = parseStructuralSchema(source);
  const pruned = cloneJson(data);
  prune(pruned, structure);
  const correlation = new Correlation(pruned, cloneJson(pruned), structure);
  const errors = new FieldErrors();
  valueValidator(source).validateUpdate(correlation, "", errors);
  if (correlation.isUnchanged) assert.deepEqual(errors.causes, []);
});

test("reports the first of very many errors, each once", () => {
  const schema = new ValueSchema({ type: "array", items: { type: "integer" } }, "request");
  const errors = explain(
    Array.from({ length: 50_000 }, () => "x"),
    schema,
    undefined,
  );
  assert.equal(errors.length, 10_000);
  assert.equal(new Set(errors.map(({ message }) => message)).size, 10_000);
  assert.equal(errors.at(-1)?.path, "[9999]");
});
