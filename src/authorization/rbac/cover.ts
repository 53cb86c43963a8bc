/**
 * Compares two sets of rules.
 * Source: k8s.io/component-helpers@v0.36.0/auth/rbac/validation/policy_comparator.go.
 */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import { quoteGoList } from "../../lib/json/quote.ts";
import type { PolicyRule } from "./rule.ts";

/**
 * Splits the requested rules into pieces and finds the pieces that no owned rule covers.
 *
 * @returns rules with one verb, and with one resource and name or one URL
 */
export function uncovered(owned: readonly PolicyRule[], requested: readonly PolicyRule[]): PolicyRule[] {
  return requested.flatMap(piecesOf).filter((piece) => !owned.some((rule) => covers(rule, piece)));
}

function piecesOf({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): PolicyRule[] {
  const pieces: PolicyRule[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const piece = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) pieces.push(piece);
        for (const name of resourceNames) pieces.push({ ...piece, resourceNames: [name] });
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) pieces.push({ nonResourceURLs: [url], verbs: [verb] });
  return pieces;
}

function covers(owner: PolicyRule, piece: PolicyRule): boolean {
  return (
    coversAll(owner.verbs, piece.verbs) &&
    coversAll(owner.apiGroups, piece.apiGroups) &&
    coversResources(owner.resources, piece.resources) &&
    coversNames(owner.resourceNames, piece.resourceNames) &&
    (piece.nonResourceURLs ?? []).every((url) => (owner.nonResourceURLs ?? []).some((owned) => pathMatches(owned, url)))
  );
}

function coversAll(owned: readonly string[] = [], requested: readonly string[] = []): boolean {
  return owned.includes("*") || requested.every((each) => owned.includes(each));
}

function coversResources(owned: readonly string[] = [], requested: readonly string[] = []): boolean {
  return owned.includes("*") || requested.every((each) => owned.includes(each) || ownsSubresource(owned, each));
}

function ownsSubresource(owned: readonly string[], resource: string): boolean {
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

/** A rule without resource names covers every name. */
function coversNames(owned: readonly string[] = [], requested: readonly string[] = []): boolean {
  return owned.length === 0 || (requested.length > 0 && requested.every((each) => owned.includes(each)));
}

/** Formats the pieces for error messages: sorted, and merged per resource. */
export function describePieces(pieces: readonly PolicyRule[]): string[] {
  const merged = new Map<string, PolicyRule>();
  for (const piece of pieces) {
    const { verbs = [], ...what } = piece;
    const key = piece.nonResourceURLs === undefined ? JSON.stringify(what) : JSON.stringify(piece);
    const existing = merged.get(key);
    merged.set(key, existing === undefined ? piece : { ...existing, verbs: [...(existing.verbs ?? []), ...verbs] });
  }
  return [...new Set([...merged.values()].map(describe))].sort((a, b) => (a < b ? -1 : 1));
}

function describe({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  return `{${parts.flatMap(([name, list]) => (list === undefined || list.length === 0 ? [] : [`${name}:${quoteGoList(list)}`])).join(", ")}}`;
}
