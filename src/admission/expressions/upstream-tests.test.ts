/**
 * Upstream's tests of expressions, replayed: compile errors, results, variables and budgets.
 * `npm run golden admission-tests` records testdata/expressions.jsonl again.
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
import type { Resolved } from "../../catalog/contract.ts";
import { perCallLimit } from "../../cel-environment/limits.ts";
import { OutOfBudget } from "../../cel-environment/policy-evaluator.ts";

interface Evaluation extends RecordedInput {
  readonly budget: number;
  readonly results?: readonly { readonly value?: unknown; readonly error?: string }[];
  readonly left?: number;
  readonly error?: string;
}

type Call = { readonly compiled: RecordedExpression } | (Evaluation & { readonly compiled?: undefined });

/** Functions that upstream's tests add, and environments of older versions, which this server does not have. */
function isForeign({ text, version, noSelectors, stored }: RecordedExpression): boolean {
  const isOlder = version !== undefined && stored !== true;
  return isOlder || /\btest\(\)/.test(text) || (noSelectors === true && /(?:field|label)Selector\(/.test(text));
}

type Outcome = Pick<Evaluation, "results" | "left" | "error">;

function evaluate(call: Evaluation): Outcome {
  const { group, version, resource } = call.request.resource;
  const target = recordedCatalog(call.request, []).find(group, version, resource) as Resolved;
  const bindings = recordedBindings(call, attributesOf(call.request, target));
  let { budget } = call;
  const results: unknown[] = [];
  for (const expression of call.expressions) {
    const { compiler, compiled } = compileRecorded(expression, call.variables);
    const evaluator = compiler.evaluator(bindings, budget);
    try {
      const { value, error } = evaluator.evaluate(compiled);
      results.push(error === undefined ? { value: typeof value === "boolean" ? value : String(value) } : { error });
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      return { left: -1, error: error.message };
    }
    budget = evaluator.budget;
  }
  return { ...(results.length > 0 && { results: results as NonNullable<Outcome["results"]> }), left: budget };
}

/** Whether upstream's test lowers the limit of one expression. */
function hasLowLimit(call: Call): boolean {
  if (call.compiled !== undefined || !call.results?.some(({ error }) => error?.includes("cost limit exceeded")))
    return false;
  return call.budget - (call.left ?? 0) < perCallLimit;
}

const calls = readCalls<Call>(join(import.meta.dirname, "testdata/expressions.jsonl"));
const expressionsOf = (call: Call): readonly RecordedExpression[] =>
  call.compiled === undefined ? [...call.expressions, ...(call.variables ?? [])] : [call.compiled];
const own = calls.filter((call) => !expressionsOf(call).some(isForeign) && !hasLowLimit(call));

for (const [index, call] of own.entries()) {
  const [{ text }] = expressionsOf(call) as [RecordedExpression];
  if (call.compiled !== undefined) {
    if (/\bvariables\./.test(text)) continue; // It is compiled with its variables where it is evaluated.
    test(`${index}: compiles ${text}`, () =>
      assert.equal(compileRecorded(call.compiled).compiled.error, call.compiled.error));
  } else {
    const { results, left = 0, error } = call;
    test(`${index}: evaluates ${text}`, () =>
      assert.deepEqual(evaluate(call), { ...(results && { results }), left, ...(error !== undefined && { error }) }));
  }
}

test("few calls have no counterpart", () => assert.equal(calls.length - own.length, 17));
