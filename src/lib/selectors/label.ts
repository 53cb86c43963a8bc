/** Matches and formats label selectors. Source: k8s.io/apimachinery@v0.36.0/pkg/labels */
import { isInt64, type LabelRequirement, type LabelSelector } from "./label-requirement.ts";
import { matchesManyLabels } from "./many-requirements.ts";
import { indexInSorted } from "./sorted-texts.ts";

export { parseLabelSelector } from "./label-parser.ts";
export type { LabelOperator, LabelRequirement, LabelSelector } from "./label-requirement.ts";

/**
 * More requirements, and more values of one, are not compared one by one: a selector of a megabyte
 * would block the server at a large collection.
 */
const comparedMax = 16;

/** Whether a selector matches. */
export function matchesLabels(selector: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  const { requirements } = selector;
  if (requirements.length > comparedMax) return matchesManyLabels(selector, labels);
  for (const requirement of requirements) if (!holds(requirement, labels)) return false;
  return true;
}

function holds({ key, operator, values }: LabelRequirement, labels: ReadonlyMap<string, string>): boolean {
  const value = labels.get(key);
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && includes(values, value);
    case "!=":
    case "notin":
      return value === undefined || !includes(values, value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
      return value !== undefined && isInt64(value) && BigInt(value) > BigInt(values[0] as string);
    case "lt":
      return value !== undefined && isInt64(value) && BigInt(value) < BigInt(values[0] as string);
  }
}

/** @param values sorted */
function includes(values: readonly string[], value: string): boolean {
  return values.length <= comparedMax ? values.includes(value) : indexInSorted(values, value) >= 0;
}

/** Formats a selector like kube-apiserver. */
export function formatLabelSelector({ requirements }: LabelSelector): string {
  return requirements.map(formatRequirement).join(",");
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.join(",")})`;
    case "gt":
      return `${key}>${values[0]}`;
    case "lt":
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}
