/** Whether rules allow all that others allow; and what they do not, piece by piece. Source: access-control §5.3.9; upstream's policy comparator. */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import { quoteGoList } from "../../lib/json/quote.ts";
import type { PolicyRule } from "./rule.ts";

/** @returns what of the wanted rules no rule of the owner covers, in pieces of one verb of one resource and name, or of one URL */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(piecesOf).filter((piece) => !owned.some((rule) => covers(rule, piece)));
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

function coversAll(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return owned.includes("*") || wanted.every((each) => owned.includes(each));
}

function coversResources(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return owned.includes("*") || wanted.every((each) => owned.includes(each) || ownsSubresource(owned, each));
}

function ownsSubresource(owned: readonly string[], resource: string): boolean {
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

/** No names means all of them. */
function coversNames(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return owned.length === 0 || (wanted.length > 0 && wanted.every((each) => owned.includes(each)));
}

/** The pieces as refusals list them: those of one resource in one, sorted. */
export function describePieces(pieces: readonly PolicyRule[]): string[] {
  const merged = new Map<string, PolicyRule>();
  for (const piece of pieces) {
    const { verbs = [], ...what } = piece;
    const key = piece.nonResourceURLs === undefined ? JSON.stringify(what) : JSON.stringify(piece);
    const known = merged.get(key);
    merged.set(key, known === undefined ? piece : { ...known, verbs: [...(known.verbs ?? []), ...verbs] });
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
