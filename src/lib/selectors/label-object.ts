/** Label selectors written as objects: metav1.LabelSelector. */
import { formatLabelSelector } from "./label.ts";
import { byKey, everything, type LabelOperator, type LabelSelector, labelRequirement } from "./label-requirement.ts";
import { SelectorError } from "./selector-error.ts";

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

/** An empty object selects everything. An absent selector, which selects nothing, is the caller's to tell. @throws SelectorError when it is not valid */
export function labelSelectorFromObject({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelectorObject): LabelSelector {
  const requirements = Object.entries(matchLabels).map(([key, value]) => labelRequirement(key, "=", [value]));
  for (const { key, operator, values = [] } of matchExpressions) {
    const known = operators.get(operator);
    if (known === undefined)
      throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, known, values));
  }
  return requirements.length === 0 ? everything : { requirements: byKey(requirements) };
}

/** As tables show it: `a=b,c in (x,y)`, `<none>` when nothing is asked for, `<error>` when it is not valid. */
export function formatLabelSelectorObject(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return "<none>";
  try {
    return formatLabelSelector(labelSelectorFromObject(selector)) || "<none>";
  } catch (error) {
    if (error instanceof SelectorError) return "<error>";
    throw error;
  }
}
