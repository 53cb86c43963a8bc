/**
 * Upstream's tests of mutations and of the type checker, replayed.
 * `npm run golden admission-tests` records testdata/mutations.jsonl and testdata/warnings.jsonl again.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { attributesOf, readCalls, recordedCatalog } from "../../../test/support/recorded-admission.ts";
import {
  compileRecorded,
  type RecordedExpression,
  type RecordedInput,
  recordedBindings,
} from "../../../test/support/recorded-expressions.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { GroupVersionKind, KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { runtimeBudget } from "../../cel-environment/limits.ts";
import { OutOfBudget } from "../../cel-environment/policy-evaluator.ts";
import { policyTypeChecker } from "../../cel-environment/policy-type-checker.ts";
import type { CelValue } from "../../lib/cel/index.ts";
import type { JsonSchema } from "../../lib/cel/schema-types/index.ts";
import { decodeJson } from "../../lib/schema/decode.ts";
import { encodeValue } from "../../lib/schema/encode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { applyConfiguration, applyPatch, MutationError } from "./apply-mutation.ts";

interface Mutation extends RecordedInput {
  readonly mutation: "ApplyConfiguration" | "JSONPatch";
  readonly patched?: KubeObject;
  readonly error?: string;
}

/** The value of the expression. @throws MutationError */
function resultOf(call: Mutation): CelValue {
  const { group, version, resource } = call.request.resource;
  const target = recordedCatalog(call.request, []).find(group, version, resource) as Resolved;
  const { compiler, compiled } = compileRecorded(call.expressions[0] as RecordedExpression, call.variables);
  if (compiled.error !== undefined) throw new MutationError(compiled.error);
  const bindings = recordedBindings(call, attributesOf(call.request, target));
  const { value, error } = compiler.evaluator(bindings, runtimeBudget).evaluate(compiled);
  if (value === undefined) throw new MutationError(error ?? "");
  return value;
}

function outcomeOf(call: Mutation, schema: Struct): Pick<Mutation, "patched" | "error"> {
  const apply = call.mutation === "JSONPatch" ? applyPatch : applyConfiguration;
  try {
    return { patched: apply(resultOf(call), typed(call.request.object as KubeObject, schema), schema) };
  } catch (error) {
    if (error instanceof MutationError || error instanceof OutOfBudget || error instanceof ApiError)
      return { error: error.message };
    throw error;
  }
}

/** The object as the server decodes it. */
function typed(object: KubeObject, schema: Struct): KubeObject {
  return decodeJson(Buffer.from(JSON.stringify(object)), schema).object as KubeObject;
}

/** The object as Go encodes it, with its empty structs. */
const encoded = (object: KubeObject, schema: Struct): string => encodeValue(typed(object, schema), schema);

type Call = Mutation | { readonly mutation?: undefined; readonly compiled?: RecordedExpression };

const calls = readCalls<Call>(join(import.meta.dirname, "testdata/mutations.jsonl"));
const mutations = calls.filter((call) => call.mutation !== undefined);
for (const [index, call] of mutations.entries()) {
  const { group, version, kind } = call.matchedAs;
  const schema = builtinSchema(definitionOf(group, version, kind) as string);
  const { mutation, patched, error, expressions } = call;
  test(`${index}: ${mutation} ${expressions[0]?.text.replaceAll(/\s+/g, " ").trim().slice(0, 100)}`, () => {
    const outcome = outcomeOf(call, schema);
    assert.deepEqual(
      [outcome.patched && encoded(outcome.patched, schema), outcome.error],
      [patched && encoded(patched, schema), error],
    );
  });
}

for (const call of calls) {
  if (call.mutation !== undefined || call.compiled === undefined) continue;
  const { text, error } = call.compiled;
  if (/\bvariables\./.test(text)) continue; // It is compiled with its variables where it is evaluated.
  test(`compiles ${text.replaceAll(/\s+/g, " ").trim().slice(0, 100)}`, () =>
    assert.equal(compileRecorded(call.compiled as RecordedExpression).compiled.error, error));
}

interface TypedKind {
  readonly kind: GroupVersionKind;
  /** Null for a kind that the server does not know. */
  readonly schema: JsonSchema | null;
}

interface TypeCheck {
  readonly policy: {
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
    readonly validations?: readonly { readonly expression: string; readonly messageExpression?: string }[];
  };
  readonly kinds: readonly TypedKind[] | null;
  readonly params?: TypedKind;
  readonly warnings: readonly { readonly fieldRef: string; readonly warning: string }[] | null;
}

function warningsOf({ policy, kinds, params }: TypeCheck): NonNullable<TypeCheck["warnings"]> {
  const { variables = [], validations = [] } = policy;
  const known = (kinds ?? []).flatMap(({ kind: { group, version, kind }, schema }) =>
    schema === null ? [] : [{ name: `${group}/${version}, Kind=${kind}`, schema: { custom: schema } }],
  );
  const check = policyTypeChecker(known, {
    variables,
    params: params && { schema: params.schema === null ? undefined : { custom: params.schema } },
  });
  return validations
    .flatMap(({ expression, messageExpression }, index) => [
      { fieldRef: `spec.validations[${index}].expression`, warning: check(expression) },
      {
        fieldRef: `spec.validations[${index}].messageExpression`,
        warning: messageExpression ? check(messageExpression) : "",
      },
    ])
    .filter(({ warning }) => warning !== "");
}

for (const [index, call] of readCalls<TypeCheck>(join(import.meta.dirname, "testdata/warnings.jsonl")).entries()) {
  const expressions = (call.policy.validations ?? []).map(({ expression }) => expression).join("; ");
  test(`${index}: warns about ${expressions}`, () => assert.deepEqual(warningsOf(call), call.warnings ?? []));
}
