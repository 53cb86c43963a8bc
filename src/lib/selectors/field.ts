/** Matches and formats field selectors: `metadata.name=a,spec.nodeName!=b`. Source: k8s.io/apimachinery@v0.36.0/pkg/fields */
import type { FieldSelector } from "./field-parser.ts";
import { matchesManyFields } from "./many-requirements.ts";

export { type FieldSelector, parseFieldSelector } from "./field-parser.ts";

/** More terms are not compared one by one. */
const comparedMax = 16;

/** Whether a selector matches. A missing field counts as empty. */
export function matchesFields(selector: FieldSelector, fields: ReadonlyMap<string, string>): boolean {
  const { terms } = selector;
  if (terms.length > comparedMax) return matchesManyFields(selector, fields);
  for (const { key, operator, value } of terms)
    if (((fields.get(key) ?? "") === value) !== (operator === "=")) return false;
  return true;
}

/** @returns the only value of the key that the selector matches, or undefined */
export function requiresExactMatch({ terms }: FieldSelector, key: string): string | undefined {
  return terms.find((term) => term.key === key && term.operator === "=")?.value;
}

/** Formats a selector, with its terms sorted. */
export function formatFieldSelector({ terms }: FieldSelector): string {
  return terms.map(({ key, operator, value }) => `${key}${operator}${value.replace(/[\\,=]/g, "\\$&")}`).join(",");
}
