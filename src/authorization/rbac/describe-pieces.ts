/**
 * Formats missing permissions for error messages. Source: `CompactRules` and `CompactString` in
 * k8s.io/kubernetes@v1.36.0/pkg/registry/rbac/validation/policy_compact.go and
 * pkg/apis/rbac/v1/evaluation_helpers.go.
 */
import { quoteGoList } from "../../lib/json/quote.ts";
import type { PolicyRule } from "../contract.ts";

/** Formats the pieces: sorted, and merged per resource and name. */
export function describePieces(pieces: readonly PolicyRule[]): string[] {
  const verbsOf = new Map<string, string[]>();
  const lines = new Set<string>();
  const quote = quoteOnce();
  for (const { apiGroups, resources, nonResourceURLs, resourceNames, verbs = [] } of pieces) {
    const ofNames = resourceNames === undefined ? "" : `, ResourceNames:${quote(resourceNames)}`;
    const what =
      nonResourceURLs === undefined
        ? `APIGroups:${quote(apiGroups)}, Resources:${quote(resources)}${ofNames}`
        : `NonResourceURLs:${quote(nonResourceURLs)}`;
    const merged = verbsOf.get(what);
    if (nonResourceURLs !== undefined) lines.add(lineOf(what, verbs));
    else if (merged === undefined) verbsOf.set(what, [...verbs]);
    else merged.push(...verbs);
  }
  for (const [what, verbs] of verbsOf) lines.add(lineOf(what, verbs));
  return [...lines].sort((a, b) => (a < b ? -1 : 1));
}

/** Quotes lists of one value. Pieces repeat the values of their rules. */
function quoteOnce(): (list: readonly string[] | undefined) => string {
  const quoted = new Map<string, string>();
  return ([value = ""] = []) => {
    const existing = quoted.get(value);
    if (existing !== undefined) return existing;
    const text = quoteGoList([value]);
    quoted.set(value, text);
    return text;
  };
}

function lineOf(what: string, verbs: readonly string[]): string {
  return `{${what}, Verbs:${quoteGoList(verbs)}}`;
}
