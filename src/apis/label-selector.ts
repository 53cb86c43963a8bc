/** metav1.LabelSelector: validation, matching and formatting. */
import { FieldErrors, typedText } from "../apimachinery/field-errors.ts";
import { addInvalid, validateLabels } from "../apimachinery/validation/metadata.ts";
import { labelValueProblems, qualifiedNameProblems } from "../lib/names/names.ts";
import { items, type Part } from "./fields.ts";

/** Options of {@link validateLabelSelector}. */
export interface SelectorRules {
  /** Accept values that are not valid label values, because the old object has such a selector. */
  readonly anyValues?: boolean;
}

/** Reports the problems of a label selector. */
export function validateLabelSelector(
  selector: Part,
  path: string,
  errors: FieldErrors,
  { anyValues = false }: SelectorRules = {},
): void {
  validateLabels(selector.matchLabels, `${path}.matchLabels`, errors);
  for (const [index, requirement] of items(selector.matchExpressions).entries()) {
    validateRequirement(requirement, `${path}.matchExpressions[${index}]`, anyValues, errors);
  }
}

/** Whether a selector has no problems. */
export function isSoundSelector(selector: Part): boolean {
  const errors = new FieldErrors();
  validateLabelSelector(selector, "", errors);
  return errors.empty;
}

function validateRequirement(
  { key = "", operator = "", values }: Part,
  path: string,
  anyValues: boolean,
  errors: FieldErrors,
): void {
  const count = values?.length ?? 0;
  if (operator === "In" || operator === "NotIn") {
    if (count === 0) errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (count > 0)
      errors.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else errors.invalid(`${path}.operator`, typedText(operator), "not a valid selector operator");
  addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  if (anyValues) return;
  for (const [index, value] of (values ?? []).entries())
    addInvalid(errors, `${path}.values[${index}]`, value, labelValueProblems(value));
}

/** Whether a selector has no requirements. */
export function isEmptySelector(selector: Part): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && items(selector.matchExpressions).length === 0;
}

/** Orders a selector as Go prints it: labels by name, fields in declaration order. */
export function shownSelector(selector: Part): Part {
  const requirements = items(selector.matchExpressions).map(({ key = "", operator = "", values }) => {
    return { key, operator, ...(values?.length > 0 && { values }) };
  });
  return {
    ...(Object.keys(selector.matchLabels ?? {}).length > 0 && { matchLabels: byName(selector.matchLabels) }),
    ...(requirements.length > 0 && { matchExpressions: requirements }),
  };
}

/** Orders a map as Go prints it. */
export function byName(map: Part): Part {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

/** Whether a selector matches labels. An empty selector matches everything. */
export function selects(selector: Part, labels: Readonly<Record<string, string>>): boolean {
  const value = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, expected]) => value(key) === expected) &&
    items(selector.matchExpressions).every(({ key, operator, values = [] }) => {
      const found = value(key);
      if (operator === "In") return found !== undefined && values.includes(found);
      if (operator === "NotIn") return found === undefined || !values.includes(found);
      return operator === "Exists" ? found !== undefined : found === undefined;
    })
  );
}

/** Formats a selector for `kubectl -l`, ordered by key: `a=b,c in (x,y),!d`. */
export function formatLabelSelector(selector: Part | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]): [string, string] => [
    key,
    `${key}=${value}`,
  ]);
  const expressions = items(selector?.matchExpressions).map((requirement): [string, string] => [
    requirement.key,
    formatRequirement(requirement),
  ]);
  return [...labels, ...expressions]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}

function formatRequirement({ key, operator, values }: Part): string {
  const list = `(${[...(values ?? [])].sort().join(",")})`;
  if (operator === "In") return `${key} in ${list}`;
  if (operator === "NotIn") return `${key} notin ${list}`;
  return operator === "Exists" ? key : `!${key}`;
}
