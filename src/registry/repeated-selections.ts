/**
 * Selections that clients repeat: what the nodes of the cache's tree do not have is remembered, so that the next list
 * searches what has changed, and the nodes with matching entries.
 */
import type { ResourceStore } from "../catalog/contract.ts";
import type { EntryFilter } from "../watch-cache/contract.ts";
import type { Selection } from "./selection.ts";

/** Recent selections of one resource; the least recently used one is forgotten first. */
const recentMax = 16;
/** Longer selectors are not remembered. */
const textMax = 1000;

/** By text, in order of last use. A selection has a filter from its second use on. */
type Recent = Map<string, EntryFilter | undefined>;

const recent = new WeakMap<ResourceStore, Recent>();

/** @returns undefined for the first use of a selection, and for one that needs no search or is not by entries alone */
export function repeatedFilter(selection: Selection, store: ResourceStore): EntryFilter | undefined {
  const { text } = selection;
  if (selection.isPlain || selection.shard !== undefined || text.length > textMax) return undefined;
  let selections = recent.get(store);
  if (selections === undefined) {
    selections = new Map();
    recent.set(store, selections);
  }
  const isRepeated = selections.has(text);
  const filter = isRepeated ? (selections.get(text) ?? filterOf(selection)) : undefined;
  selections.delete(text);
  selections.set(text, filter);
  if (selections.size > recentMax) selections.delete(selections.keys().next().value as string);
  return filter;
}

function filterOf(selection: Selection): EntryFilter {
  return { test: selection.matches, without: new WeakSet() };
}
