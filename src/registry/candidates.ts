/** Entries that a selection can want, found through what the cache keeps in order, so that a hot selector does not look at all objects. */
import type { ResourceStore } from "../catalog/contract.ts";
import type { Entry, Snapshot, Topic } from "../watch-cache/contract.ts";
import type { Selection } from "./selection.ts";

/** Where a list or a watch looks: keys that have the prefix, and come after `after` when given. */
export interface Range {
  readonly prefix: string;
  readonly after?: string | undefined;
}

/** @returns in key order; the selection must still be asked about each of them */
export function candidates(
  snapshot: Snapshot,
  { prefix, after }: Range,
  selection: Selection,
  store: ResourceStore,
): Iterable<Entry> {
  if (selection.name !== undefined) return namesakes(snapshot, { prefix, after }, selection.name);
  for (const field of store.source.indexedFields) {
    const value = selection.fixed(field);
    const found = value === undefined ? undefined : snapshot.find(field, value, prefix, after);
    if (found !== undefined) return found;
  }
  return snapshot.range(prefix, after);
}

/** What upstream calls the index by which {@link candidates} are found; empty where it is none. */
export function indexName(selection: Selection, { source }: ResourceStore): string {
  const field =
    selection.name === undefined ? source.indexedFields.find((one) => selection.fixed(one) !== undefined) : undefined;
  return field === undefined ? "" : `f:${field}`;
}

/** Objects of one name in all namespaces: a look at each namespace that has objects, not at each object. */
function* namesakes(snapshot: Snapshot, { prefix, after }: Range, name: string): Generator<Entry, void, void> {
  let next = snapshot.range(prefix, after).next();
  while (next.done !== true) {
    const { key } = next.value;
    const namespace = key.slice(0, key.lastIndexOf("/") + 1);
    const wanted = namespace + name;
    const entry = after === undefined || key <= wanted ? snapshot.get(wanted) : undefined;
    if (entry !== undefined) yield entry;
    if (namespace.length <= prefix.length) return;
    next = snapshot.range(prefix, `${namespace.slice(0, -1)}${afterSlash}`).next();
  }
}

const afterSlash = "0";

/** What a watch of a range needs to hear of at most; undefined for all of it. @param isWhole whether the range is all objects of the cache */
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
