/** metav1.LabelSelector: whether it is valid, what it selects, and how it reads as text. */
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { addInvalid, validateLabels } from "../apimachinery/validation/metadata.ts";
import { labelValueProblems, qualifiedNameProblems } from "../lib/names/names.ts";
import { items, type Part } from "./fields.ts";

export interface SelectorRules {
  /** Values may be no label values, since what is changed had such a selector before. */
  readonly anyValues?: boolean;
}

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
  } else errors.invalid(`${path}.operator`, operator, "not a valid selector operator");
  addInvalid(errors, `${path}.key`, key, qualifiedNameProblems(key));
  if (anyValues) return;
  for (const [index, value] of (values ?? []).entries())
    addInvalid(errors, `${path}.values[${index}]`, value, labelValueProblems(value));
}

export function isEmptySelector(selector: Part): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && items(selector.matchExpressions).length === 0;
}

/** As Go writes it: labels by name, fields in their order. */
export function shownSelector(selector: Part): Part {
  const requirements = items(selector.matchExpressions).map(({ key = "", operator = "", values }) => {
    return { key, operator, ...(values?.length > 0 && { values }) };
  });
  return {
    ...(Object.keys(selector.matchLabels ?? {}).length > 0 && { matchLabels: byName(selector.matchLabels) }),
    ...(requirements.length > 0 && { matchExpressions: requirements }),
  };
}

/** A map as Go writes it. */
export function byName(map: Part): Part {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

/** An empty selector selects everything. */
export function selects(selector: Part, labels: Readonly<Record<string, string>>): boolean {
  const value = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, wanted]) => value(key) === wanted) &&
    items(selector.matchExpressions).every(({ key, operator, values = [] }) => {
      const found = value(key);
      if (operator === "In") return found !== undefined && values.includes(found);
      if (operator === "NotIn") return found === undefined || !values.includes(found);
      return operator === "Exists" ? found !== undefined : found === undefined;
    })
  );
}

/** As `kubectl -l` takes it, by key: `a=b,c in (x,y),!d`. */
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
