/**
 * Scopes of quotas, and selectors of values in a scope.
 * Source: `ScopedResourceSelectorRequirementsAsSelector` in
 * k8s.io/kubernetes@v1.36.0/pkg/apis/core/v1/helper/helpers.go.
 */
import { items, type Part } from "../../apis/fields.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { ScopeRequirement } from "./contract.ts";

/** Returns the requirements of a quota: its scopes, then those of its selector. */
export function scopesOf({ scopes, scopeSelector }: Part): ScopeRequirement[] {
  const named: ScopeRequirement[] = (scopes ?? []).map((scopeName: string) => {
    return { scopeName, operator: "Exists", values: [] };
  });
  return [...named, ...items(scopeSelector?.matchExpressions).map(scopeRequirement)];
}

/** Reads a requirement of an object or a configuration. */
export function scopeRequirement({ scopeName = "", operator = "", values }: Part): ScopeRequirement {
  return { scopeName, operator, values: values ?? [] };
}

/**
 * Whether one of the values of an object in a scope is selected.
 * @param found no value when the object has none
 * @throws SelectorError for an unknown operator
 */
export function selectsValue({ operator, values }: ScopeRequirement, found: readonly string[]): boolean {
  if (operator === "In") return found.some((value) => values.includes(value));
  if (operator === "NotIn") return found.length === 0 || found.some((value) => !values.includes(value));
  if (operator === "Exists") return found.length > 0;
  if (operator === "DoesNotExist") return found.length === 0;
  throw new SelectorError(`${quoteGo(operator)} is not a valid scope selector operator`);
}

/** Formats requirements as Go prints the structs. */
export function describeScopes(scopes: readonly ScopeRequirement[]): string {
  return `[${scopes.map(({ scopeName, operator, values }) => `{${scopeName} ${operator} [${values.join(" ")}]}`).join(" ")}]`;
}
