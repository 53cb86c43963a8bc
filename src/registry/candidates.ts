/**
 * Finds the entries that a selection may match in the indexes of the cache, so that a frequent
 * selector does not scan all objects.
 */
import type { ResourceStore } from "../catalog/contract.ts";
import type { Entry, Snapshot, Topic } from "../watch-cache/contract.ts";
import type { Selection } from "./selection.ts";

/**
 * The keys that a list or a watch covers: those with the prefix, and after `after` if it is set.
 */
export interface Range {
  readonly prefix: string;
  readonly after?: string | undefined;
}

/** @returns in key order; the caller must still apply the selection to each of them */
export function candidates(
  snapshot: Snapshot,
  { prefix, after }: Range,
  selection: Selection,
  store: ResourceStore,
): Iterable<Entry> {
  if (selection.name !== undefined) return objectsNamed(snapshot, { prefix, after }, selection.name);
  for (const field of store.source.indexedFields) {
    const value = selection.fixed(field);
    const found = value === undefined ? undefined : snapshot.find(field, value, prefix, after);
    if (found !== undefined) return found;
  }
  return snapshot.range(prefix, after);
}

/** Upstream's name of the index that {@link candidates} uses; empty if it uses none. */
export function indexName(selection: Selection, { source }: ResourceStore): string {
  const field =
    selection.name === undefined ? source.indexedFields.find((one) => selection.fixed(one) !== undefined) : undefined;
  return field === undefined ? "" : `f:${field}`;
}

/**
 * Objects of one name in all namespaces: one lookup per namespace that has objects, not one per
 * object.
 */
function* objectsNamed(snapshot: Snapshot, { prefix, after }: Range, name: string): Generator<Entry, void, void> {
  let next = snapshot.range(prefix, after).next();
  while (next.done !== true) {
    const { key } = next.value;
    const namespace = key.slice(0, key.lastIndexOf("/") + 1);
    const namedKey = namespace + name;
    const entry = after === undefined || key <= namedKey ? snapshot.get(namedKey) : undefined;
    if (entry !== undefined) yield entry;
    if (namespace.length <= prefix.length) return;
    next = snapshot.range(prefix, `${namespace.slice(0, -1)}${afterSlash}`).next();
  }
}

const afterSlash = "0";

/**
 * The smallest set of events that a watch of a range must receive; undefined for all of them.
 * @param isWhole whether the range covers all objects of the cache
 */
export function topicOf(
  { prefix, isWhole }: { prefix: string; isWhole: boolean },
  selection: Selection,
  store: ResourceStore,
): Topic | undefined {
  for (const field of ["metadata.name", ...store.source.indexedFields]) {
    const value = selection.fixed(field);
    if (value !== undefined) return { field, value };
  }
  return isWhole ? undefined : { prefix };
}
