/**
 * Validates match conditions: expressions that select the requests of a webhook or a policy.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go
 */

import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";
import { addExpressionProblem } from "../expression-problem.ts";
import { items, type Part } from "../fields.ts";
import type { ExpressionChecker } from "./expression-checker.ts";

const conditionsMax = 64;

interface ConditionContext {
  readonly checker: ExpressionChecker;
  readonly hasParams: boolean;
  /** Expressions of the stored object's conditions. */
  readonly stored: ReadonlySet<string>;
}

export function validateMatchConditions(
  conditions: readonly Part[],
  context: ConditionContext,
  path: string,
  errors: FieldErrors,
): void {
  if (conditions.length > conditionsMax) errors.tooMany(path, conditions.length, conditionsMax);
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    validateCondition(condition, context, `${path}[${index}]`, errors);
    const { name = "" } = condition;
    if (name !== "" && names.has(name)) errors.duplicate(`${path}[${index}].name`, name);
    names.add(name);
  }
}

function validateCondition(
  { name = "", expression = "" }: Part,
  { checker, hasParams, stored }: ConditionContext,
  path: string,
  errors: FieldErrors,
): void {
  const text = expression.trim();
  if (text === "") errors.required(`${path}.expression`);
  else {
    const variables = { hasParams, hasAuthorizer: true, hasPatchTypes: false };
    const problem = checker.open(false).check({ text, use: "condition", variables, isStored: stored.has(text) });
    if (problem !== undefined) addExpressionProblem(errors, `${path}.expression`, text, problem);
  }
  if (name === "") errors.required(`${path}.name`);
  else addInvalid(errors, `${path}.name`, name, qualifiedNameProblems(name));
}

export const expressionsOf = (list: unknown, field = "expression"): ReadonlySet<string> =>
  new Set(items(list).map((one) => one[field] ?? ""));
