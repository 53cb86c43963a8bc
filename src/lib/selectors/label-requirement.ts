/** Label selectors and their requirements. Source: k8s.io/apimachinery@v0.36.0/pkg/labels/selector.go. */
import { joinErrors, quoteGo } from "../json/quote.ts";
import { clampedInteger } from "../text/integer.ts";
import { keyProblems, valueProblems } from "./label-syntax.ts";
import { SelectorError } from "./selector-error.ts";

/** The operator of a requirement. */
export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

/** One requirement of a selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted: one for `=`, `==`, `!=`, `gt`, `lt`; none for `exists` and `!`. */
  readonly values: readonly string[];
}

/** A selector that matches if all requirements do. */
export interface LabelSelector {
  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[];
}

/** The selector that matches everything. */
export const everything: LabelSelector = { requirements: [] };

/** Creates a requirement. @throws SelectorError with all problems */
export function labelRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const problems = [invalid("key", key, keyProblems(key)), ...countProblems(operator, values)];
  if (operator === "gt" || operator === "lt") problems.push(...values.map(numberProblem));
  for (let index = 0; index < values.length; index++) {
    const found = valueProblems(values[index] as string);
    if (found.length > 0) problems.push(invalid(`values[${index}][${key}]`, values[index] as string, found));
  }
  const texts = problems.filter((problem) => problem !== undefined);
  if (texts.length > 0) throw new SelectorError(joinErrors(texts));
  return { key, operator, values: values.length > 1 ? values.toSorted() : values };
}

/** Sorts requirements by key, so that equal selectors have the same text. */
export function byKey(requirements: readonly LabelRequirement[]): LabelRequirement[] {
  return requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** @returns the message of a field error, or undefined if there are no problems */
export function invalid(path: string, value: string, problems: readonly string[]): string | undefined {
  return problems.length === 0 ? undefined : `${path}: Invalid value: ${quoteGo(value)}: ${problems.join("; ")}`;
}

/** Only a LabelSelector object can have too many values, or none. */
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

/** Whether the text is a valid int64, like Go's strconv.ParseInt. */
export function isInt64(text: string): boolean {
  if (!/^[+-]?[0-9]+$/.test(text)) return false;
  const value = clampedInteger(text);
  return value === BigInt.asIntN(64, value);
}
