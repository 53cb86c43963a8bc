/**
 * Match conditions of policies and webhooks. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/matchconditions/matcher.go.
 */
import type { Compiled } from "../../cel-environment/compile-expression.ts";
import { matchConditionsBudget } from "../../cel-environment/limits.ts";
import { OutOfBudget, type PolicyBindings } from "../../cel-environment/policy-evaluator.ts";
import type { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import { boolType } from "../../lib/cel/index.ts";
import { joinErrors } from "../../lib/json/quote.ts";
import type { Pauses } from "../../lib/pauses.ts";
import type { AdmissionOperation } from "../../registry/admission-attributes.ts";
import type { ConditionObserver, ConditionOwner } from "./contract.ts";

/** The compiled match conditions of one policy or webhook. */
export interface MatchConditions {
  readonly compiler: PolicyCompiler;
  readonly conditions: readonly MatchCondition[];
  /** `Ignore`: a failed condition excludes the request; `Fail`: it is an error. */
  readonly failurePolicy: "Fail" | "Ignore";
}

interface MatchCondition {
  readonly name: string;
  readonly compiled: Compiled;
}

/** The fields of a condition in a stored object. */
interface ConditionSpec {
  readonly name?: string;
  readonly expression?: string;
}

/** @param compiler has the variables of the policy */
export function compileConditions(
  compiler: PolicyCompiler,
  specs: readonly ConditionSpec[],
  failurePolicy: MatchConditions["failurePolicy"],
): MatchConditions {
  const conditions = specs.map(({ name = "", expression = "" }) => ({
    name,
    compiled: compiler.compile(expression, [boolType]),
  }));
  return { compiler, conditions, failurePolicy };
}

/** The result of all conditions; only a mismatch by a condition names it. */
export type ConditionsResult =
  | { readonly matches: true }
  | { readonly matches: false; readonly condition?: string; readonly error?: undefined }
  | { readonly matches: false; readonly error: string };

/** Receives what happens in an evaluation, for metrics that are recorded after it. */
interface ConditionCounts {
  /** The number of conditions that failed with an error. */
  errors: number;
}

/**
 * Evaluates all conditions. A condition that is false takes precedence over errors of others.
 *
 * @param bindings without the namespace, which match conditions cannot read
 */
export async function evaluateConditions(
  { compiler, conditions, failurePolicy }: MatchConditions,
  bindings: PolicyBindings,
  pauses: Pauses,
  counts: ConditionCounts = { errors: 0 },
): Promise<ConditionsResult> {
  const evaluator = compiler.evaluator(bindings, matchConditionsBudget);
  const errors: string[] = [];
  let mismatch: string | undefined;
  try {
    for (const { name, compiled } of conditions) {
      if (pauses.isDue()) await pauses.pause();
      const { value, error } = evaluator.evaluate(compiled);
      if (mismatch !== undefined) continue;
      if (error !== undefined) errors.push(error);
      else if (value === false) mismatch = name;
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return failurePolicy === "Ignore" ? { matches: false } : { matches: false, error: error.message };
  }
  counts.errors = errors.length;
  if (mismatch !== undefined) return { matches: false, condition: mismatch };
  if (errors.length === 0) return { matches: true };
  return failurePolicy === "Ignore" ? { matches: false } : { matches: false, error: joinErrors(errors) };
}

interface Recorded {
  readonly owner: ConditionOwner;
  readonly operation: AdmissionOperation;
  readonly result: ConditionsResult;
  readonly errors: number;
  readonly seconds: number;
}

/** Records an evaluation. Like upstream's, the metric of durations lacks requests that match. */
export function recordConditions(
  observer: ConditionObserver,
  { owner, operation, result, errors, seconds }: Recorded,
): void {
  for (let count = 0; count < errors; count++) observer.failed(owner, operation);
  if (!result.matches) observer.evaluated(owner, operation, seconds);
}
