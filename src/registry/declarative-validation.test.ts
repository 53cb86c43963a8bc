/**
 * Declarative rules next to hand-written validation: comparison, enforcement, and rules that throw.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { FieldErrors, type RuleLevel } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { DeclarativeValidation } from "../catalog/strategy-contract.ts";
import type { Field, Struct, Type } from "../lib/schema/schema.ts";
import type { RegistryContext, ValidationMismatch } from "./contract.ts";
import { validateDeclared } from "./declarative-validation.ts";

const text: Type = { kind: "string" };

/** A kind whose fields have these markers; `list` is a list of strings, all others are strings. */
function kind(fields: Readonly<Record<string, readonly string[]>>): Struct {
  const list = Object.entries(fields).map(([name, markers]): Field => {
    const type: Type = name === "list" ? { kind: "list", items: text, listType: "atomic", mapKeys: [] } : text;
    return { name, type, pointer: false, omitEmpty: true, omitZero: false, required: false, markers };
  });
  const byName = new Map(list.map((field) => [field.name, field]));
  return {
    kind: "struct",
    definition: "io.example.v1.Thing",
    goType: "v1.Thing",
    fields: list,
    byName,
    atomic: false,
    preserveUnknown: false,
  };
}

interface Input {
  readonly schema: Struct;
  readonly object: Record<string, unknown>;
  readonly old?: Record<string, unknown>;
  readonly config?: DeclarativeValidation;
  /** Gates that differ from their defaults. */
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly subresource?: string;
  /** Adds the errors of hand-written validation. */
  readonly handWritten?: (errors: FieldErrors) => void;
}

interface Outcome {
  /** `field: message` */
  readonly errors: readonly string[];
  /** `identifier field reason origin` */
  readonly mismatches: readonly string[];
  readonly panics: readonly string[];
}

const defaults: Readonly<Record<string, boolean>> = {
  DeclarativeValidation: true,
  DeclarativeValidationBeta: true,
  DeclarativeValidationTakeover: false,
};

const { registry, close } = await openMemoryRegistry();
const target = registry.catalog.find("", "v1", "configmaps");
assert.ok(target !== undefined);
await close();

function run({
  schema,
  object,
  old,
  config = {},
  gates = {},
  subresource = "",
  handWritten = () => {},
}: Input): Outcome {
  const found: (ValidationMismatch & { identifier: string })[] = [];
  const panics: string[] = [];
  const context: RegistryContext = {
    ...registry,
    gates: { ...registry.gates, enabled: (name) => gates[name] ?? defaults[name] ?? false },
    validation: {
      mismatched: (identifier, mismatches) =>
        void found.push(...mismatches.map((mismatch) => ({ identifier, ...mismatch }))),
      panic: (identifier, error) => void panics.push(`${identifier} ${error}`),
      rejectedUpdate() {},
    },
  };
  const errors = new FieldErrors();
  handWritten(errors);
  const objects = { object: object as KubeObject, ...(old && { old: old as KubeObject }) };
  validateDeclared(context, { target: target as NonNullable<typeof target>, subresource }, config, {
    ...objects,
    errors,
    schema,
  });
  return {
    errors: errors.causes.map(({ field, message }) => `${field}: ${message}`),
    mismatches: found.map(({ identifier, field, reason, origin }) =>
      [identifier, field, reason, origin].filter(Boolean).join(" "),
    ),
    panics,
  };
}

const nothing = { mismatches: [], panics: [] };
const takeover = { gates: { DeclarativeValidationTakeover: true } };
const missing = { object: {} };
const required = { schema: kind({ a: ["+k8s:required"] }) };
const requiredAt = (level: RuleLevel): { schema: Struct } => ({
  schema: kind({ a: [`${level === "standard" ? "" : `+k8s:${level}=`}+k8s:required`] }),
});
const foundToo = (errors: FieldErrors): void => errors.covered().required("a", "in its own words");
const [own, declared] = ["a: Required value: in its own words", "a: Required value"];

describe("errors come from", () => {
  const rows: readonly [what: string, input: Input, expected: Partial<Outcome>][] = [
    [
      "hand-written validation if the rules agree",
      { ...required, ...missing, handWritten: foundToo },
      { errors: [own] },
    ],
    [
      "the rules if the kind enforces them",
      { ...required, ...missing, config: { enforced: true }, handWritten: foundToo },
      { errors: [declared] },
    ],
    [
      "the rules, after the takeover",
      { ...required, ...missing, ...takeover, handWritten: foundToo },
      { errors: [declared] },
    ],
    [
      "hand-written validation, over alpha rules after the takeover",
      { ...requiredAt("alpha"), ...missing, ...takeover, handWritten: foundToo },
      { errors: [own] },
    ],
    [
      "hand-written validation, over alpha rules of a kind that enforces them",
      { ...requiredAt("alpha"), ...missing, config: { enforced: true }, handWritten: foundToo },
      { errors: [own] },
    ],
    [
      "beta rules after the takeover",
      { ...requiredAt("beta"), ...missing, ...takeover, handWritten: foundToo },
      { errors: [declared] },
    ],
    [
      "hand-written validation, over beta rules without their gate",
      {
        ...requiredAt("beta"),
        ...missing,
        gates: { DeclarativeValidationTakeover: true, DeclarativeValidationBeta: false },
        handWritten: foundToo,
      },
      { errors: [own] },
    ],
    [
      "hand-written validation alone, without the gate, which cancels the takeover",
      { ...required, ...missing, gates: { DeclarativeValidation: false, DeclarativeValidationTakeover: true } },
      { errors: [] },
    ],
    [
      "hand-written validation alone, without the gate, also of a kind that enforces its rules",
      {
        ...required,
        ...missing,
        config: { enforced: true },
        gates: { DeclarativeValidation: false },
        handWritten: foundToo,
      },
      { errors: [own] },
    ],
    [
      "both for errors that no rule covers, those of the rules last",
      {
        ...required,
        ...missing,
        ...takeover,
        handWritten(errors) {
          foundToo(errors);
          errors.invalid("b", "x", "is wrong");
        },
      },
      { errors: ['b: Invalid value: "x": is wrong', declared] },
    ],
    [
      "hand-written validation alone, on subresources without rules",
      { ...required, ...missing, ...takeover, subresource: "status", handWritten: foundToo },
      { errors: [own] },
    ],
  ];
  for (const [what, input, expected] of rows)
    test(what, () => assert.deepEqual(run(input), { ...nothing, ...expected }));
});

describe("a mismatch", () => {
  const short = { schema: kind({ a: ["+k8s:alpha=+k8s:maxBytes=3"] }) };
  const rows: readonly [what: string, input: Input, expected: Partial<Outcome>][] = [
    [
      "is a rule that rejects what hand-written validation accepts",
      { ...short, object: { a: "good" } },
      { mismatches: ["thing_create a FieldValueTooLong maxBytes"] },
    ],
    [
      "is a rule that accepts what hand-written validation rejects",
      { ...short, object: { a: "bad" }, handWritten: (errors) => errors.covered("maxBytes").tooLong("a", 2) },
      {
        errors: ["a: Too long: may not be more than 2 bytes"],
        mismatches: ["thing_create a FieldValueTooLong maxBytes"],
      },
    ],
    [
      "is counted twice when the origins differ",
      { ...short, object: { a: "long" }, handWritten: (errors) => errors.covered("maxLength").tooLong("a", 3) },
      {
        errors: ["a: Too long: may not be more than 3 bytes"],
        mismatches: ["thing_create a FieldValueTooLong maxLength", "thing_create a FieldValueTooLong maxBytes"],
      },
    ],
    [
      "names the subresource",
      { ...short, object: { a: "long" }, old: {}, subresource: "status", config: { subresources: ["status"] } },
      { mismatches: ["thing_status_update a FieldValueTooLong maxBytes"] },
    ],
    [
      "is not an error that no rule covers",
      { ...short, object: { a: "bad" }, handWritten: (errors) => errors.invalid("a", "bad", "no") },
      { errors: ['a: Invalid value: "bad": no'] },
    ],
    [
      "is not several errors of one rule",
      {
        schema: kind({ list: ["+k8s:eachVal=+k8s:maxBytes=1"] }),
        object: { list: ["xx", "xx"] },
        config: { normalizations: [[/^list\[\d\]$/, "old"]] },
        handWritten: (errors) => errors.covered("maxBytes").tooLong("old", 1),
      },
      { errors: ["old: Too long: may not be more than 1 byte"] },
    ],
    [
      "is not an error after a rule that stopped validation of the field",
      {
        schema: kind({ a: ["+k8s:immutable", "+k8s:format=k8s-short-name"] }),
        object: { a: "A" },
        old: { a: "b" },
        handWritten(errors) {
          errors.covered("immutable").invalid("a", "A", "field is immutable");
          errors.covered("format=k8s-short-name").invalid("a", "A", "no");
        },
      },
      { errors: ['a: Invalid value: "A": field is immutable', 'a: Invalid value: "A": no'] },
    ],
    [
      "is not an error of a rule for items of a list that is too long",
      {
        schema: kind({ list: ["+k8s:eachVal=+k8s:maxBytes=1"] }),
        object: { list: ["xx", "y"] },
        handWritten: (errors) => errors.tooMany("list", 2, 1),
      },
      { errors: ["list: Too many: 2: must have at most 1 item"] },
    ],
    [
      "is not the same field error with another message",
      { ...required, ...missing, handWritten: (errors) => errors.notSupported("a", "", ["x"]) },
      { errors: ['a: Unsupported value: "": supported values: "x"'] },
    ],
    [
      "is not an error of an old item that only moved",
      {
        schema: kind({ list: ["+k8s:eachVal=+k8s:maxBytes=1"] }),
        object: { list: ["y", "xx"] },
        old: { list: ["xx"] },
      },
      {},
    ],
    [
      "is not reported when errors were truncated",
      {
        ...short,
        object: { a: "long" },
        handWritten(errors) {
          for (let index = 0; index < 1001; index++) errors.required("b");
        },
      },
      { errors: Array(1000).fill("b: Required value") },
    ],
  ];
  for (const [what, input, expected] of rows)
    test(what, () => assert.deepEqual(run(input), { errors: [], ...nothing, ...expected }));
});

describe("a rule that throws an error", () => {
  const broken = { schema: kind({ a: ["+k8s:unheardOf"] }), object: {} };
  const panics = ["thing_create Error: unknown marker +k8s:unheardOf"];
  const internal = "<nil>: Internal error: panic during declarative validation: unknown marker +k8s:unheardOf";
  const reject = (errors: FieldErrors): void => errors.covered().required("b");
  const rows: readonly [what: string, input: Input, expected: Partial<Outcome>][] = [
    ["is counted, and hand-written validation decides", broken, { errors: [] }],
    [
      "is counted, and the hand-written error remains",
      { ...broken, handWritten: reject },
      { errors: ["b: Required value"] },
    ],
    ["fails the write after the takeover", { ...broken, ...takeover }, { errors: [internal] }],
    [
      "fails the write of a kind that enforces its rules",
      { ...broken, config: { enforced: true }, handWritten: reject },
      { errors: ["b: Required value", internal] },
    ],
  ];
  for (const [what, input, expected] of rows)
    test(what, () => assert.deepEqual(run(input), { ...nothing, panics, ...expected }));

  test("does not run without the gate", () => {
    assert.deepEqual(run({ ...broken, gates: { DeclarativeValidation: false } }), { errors: [], ...nothing });
  });
});
