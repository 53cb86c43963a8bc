/** What a label selector is made of. */
import { joinErrors, quoteGo } from "../json/quote.ts";
import { keyProblems, valueProblems } from "./label-syntax.ts";
import { SelectorError } from "./selector-error.ts";

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted: one for `=`, `==`, `!=`, `gt`, `lt`; none for `exists` and `!`. */
  readonly values: readonly string[];
}

/** All requirements must hold; none means everything matches. */
export interface LabelSelector {
  /** By key. */
  readonly requirements: readonly LabelRequirement[];
}

export const everything: LabelSelector = { requirements: [] };

/** @throws SelectorError that tells everything wrong with it */
export function labelRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const problems = [
    invalid("key", key, keyProblems(key)),
    ...countProblems(operator, values),
    ...(operator === "gt" || operator === "lt" ? values.map(numberProblem) : []),
    ...values.map((value, index) => invalid(`values[${index}][${key}]`, value, valueProblems(value))),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new SelectorError(joinErrors(problems));
  return { key, operator, values: values.toSorted() };
}

/** So that the text of a selector does not depend on how it was written. */
export function byKey(requirements: readonly LabelRequirement[]): LabelRequirement[] {
  return requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** @returns undefined when there are no problems */
export function invalid(path: string, value: string, problems: readonly string[]): string | undefined {
  return problems.length === 0 ? undefined : `${path}: Invalid value: ${quoteGo(value)}: ${problems.join("; ")}`;
}

/** Only selectors of objects can have too many values, or none. */
function countProblems(operator: LabelOperator, values: readonly string[]): string[] {
  if ((operator === "in" || operator === "notin") && values.length === 0)
    return ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"];
  if ((operator === "exists" || operator === "!") && values.length > 0)
    return [
      `values: Invalid value: [${values.map((value) => JSON.stringify(value)).join(",")}]: values set must be empty for exists and does not exist`,
    ];
  return [];
}

function numberProblem(value: string, index: number): string | undefined {
  return isInt64(value)
    ? undefined
    : invalid(`values[${index}]`, value, ["for 'Gt', 'Lt' operators, the value must be an integer"]);
}

/** Whether Go's ParseInt takes the text. */
export function isInt64(text: string): boolean {
  if (!/^[+-]?[0-9]+$/.test(text)) return false;
  const value = BigInt(text.replace(/^\+/, ""));
  return value === BigInt.asIntN(64, value);
}
