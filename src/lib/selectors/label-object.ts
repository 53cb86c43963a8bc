/** Label selectors in objects: `LabelSelector` of meta/v1. Source: Kubernetes docs, "Labels and Selectors". */
import { quoteGo } from "../json/quote.ts";
import { formatLabelSelector } from "./label.ts";
import { byKey, everything, type LabelOperator, type LabelSelector, labelRequirement } from "./label-requirement.ts";
import { SelectorError } from "./selector-error.ts";

/** A `LabelSelector` as JSON. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/**
 * Converts a LabelSelector. An empty one matches everything. The caller handles a missing one,
 * which matches nothing.
 *
 * @throws SelectorError if it is invalid
 */
export function labelSelectorFromObject({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelectorObject): LabelSelector {
  const requirements = Object.entries(matchLabels).map(([key, value]) => labelRequirement(key, "=", [value]));
  for (const { key, operator, values = [] } of matchExpressions) {
    const labelOperator = operators.get(operator);
    if (labelOperator === undefined)
      throw new SelectorError(`${quoteGo(operator)} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, labelOperator, values));
  }
  return requirements.length === 0 ? everything : { requirements: byKey(requirements) };
}

/**
 * Formats for tables: `a=b,c in (x,y)`, `<none>` if there are no requirements, `<error>` if
 * invalid.
 */
export function formatLabelSelectorObject(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return "<none>";
  try {
    return formatLabelSelector(labelSelectorFromObject(selector)) || "<none>";
  } catch (error) {
    if (error instanceof SelectorError) return "<error>";
    throw error;
  }
}
