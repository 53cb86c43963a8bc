/**
 * The groups of all servers over one store in one discovery document. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/aggregated/peer_aggregated_handler.go.
 */
import { isDeepStrictEqual } from "node:util";
import { mergeOrders } from "../../../lib/merge-orders.ts";
import type { GroupDocument, ResourceDocument, VersionDocument } from "../discovery/documents.ts";

/**
 * Merges the groups of this server with those of its peers.
 *
 * @param self the identity of this server; documents are merged in the order of identities
 */
export function mergePeerGroups(
  self: string,
  own: readonly GroupDocument[],
  peers: ReadonlyMap<string, readonly GroupDocument[]>,
): readonly GroupDocument[] {
  if (peers.size === 0) return own;
  const servers = [...peers, [self, own] as const].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, groups]) => groups);
  return mergeLists(servers, (group) => group.metadata?.name ?? "", mergeGroup);
}

/**
 * Merges lists of named elements, in an order that all lists have.
 * @param merge is called for two elements with the same name
 */
function mergeLists<T>(lists: readonly (readonly T[])[], nameOf: (one: T) => string, merge: (a: T, b: T) => T): T[] {
  const byName = new Map<string, T>();
  for (const one of lists.flat()) {
    const existing = byName.get(nameOf(one));
    byName.set(nameOf(one), existing === undefined ? one : merge(existing, one));
  }
  return mergeOrders(lists.map((list) => list.map(nameOf))).map((name) => byName.get(name) as T);
}

function mergeGroup(a: GroupDocument, b: GroupDocument): GroupDocument {
  return { ...a, versions: mergeLists([a.versions ?? [], b.versions ?? []], ({ version }) => version, mergeVersion) };
}

function mergeVersion(a: VersionDocument, b: VersionDocument): VersionDocument {
  const { version, resources = [], freshness } = a;
  const merged = mergeLists([resources, b.resources ?? []], ({ resource }) => resource, mergeResource);
  return { version, ...(merged.length > 0 && { resources: merged }), ...(freshness !== undefined && { freshness }) };
}

/** Verbs and subresources are sorted only if they differ. */
function mergeResource(a: ResourceDocument, b: ResourceDocument): ResourceDocument {
  if (isDeepStrictEqual(a, b)) return a;
  const { subresources: _, ...rest } = a;
  const all = [...(a.subresources ?? []), ...(b.subresources ?? [])];
  const subresources = [...new Map(all.map((one) => [one.subresource, one])).values()].sort((x, y) =>
    x.subresource < y.subresource ? -1 : 1,
  );
  const verbs = [...new Set([...(a.verbs ?? []), ...(b.verbs ?? [])])].sort();
  return { ...rest, verbs, ...(subresources.length > 0 && { subresources }) };
}
