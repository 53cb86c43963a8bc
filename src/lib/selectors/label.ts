/** Matches and formats label selectors. Source: k8s.io/apimachinery@v0.36.0/pkg/labels */
import { isInt64, type LabelRequirement, type LabelSelector } from "./label-requirement.ts";

export { parseLabelSelector } from "./label-parser.ts";
export type { LabelOperator, LabelRequirement, LabelSelector } from "./label-requirement.ts";

/** Whether a selector matches. */
export function matchesLabels({ requirements }: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  for (const requirement of requirements) if (!holds(requirement, labels)) return false;
  return true;
}

function holds({ key, operator, values }: LabelRequirement, labels: ReadonlyMap<string, string>): boolean {
  const value = labels.get(key);
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
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
