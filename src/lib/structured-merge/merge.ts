/**
 * Merges an applied intent into the live object. Source: structured-merge-diff's merge; KEP-555.
 */

import { equalsWritten } from "./equal.ts";
import { itemElement, itemsByElement } from "./items.ts";
import type { List, Struct, Type } from "./schema.ts";
import {
  checkDepth,
  copyMap,
  fieldOf,
  fieldType,
  granular,
  isEmptyMap,
  isMap,
  type MapLike,
  type PlainMap,
  setMember,
} from "./typed.ts";

/**
 * Merges an intent into the live object. Values of the intent win. Live fields that the intent does
 * not contain stay, and so does the content of maps and associative lists that are null or empty in
 * the intent.
 *
 * @returns the live object itself when the intent changes nothing, otherwise a new object that
 *   shares unchanged parts with both
 * @throws TypedError for items without keys, and beyond `depthMax` levels
 */
export function merge(live: PlainMap, intent: PlainMap, schema: Struct): PlainMap {
  return mergeValues(live, intent, schema, 0) as PlainMap;
}

function mergeValues(live: unknown, intent: unknown, type: Type, depth: number): unknown {
  checkDepth(depth);
  if (intent === undefined || live === intent) return live;
  const seen = granular(type, live) ?? granular(type, intent);
  if (seen?.form === "map" && isMap(live) && !isEmptyMap(live)) {
    if (isMap(intent)) return mergeMaps(live, intent, seen.type, depth);
    if (intent === null) return live;
  }
  if (seen?.form === "list" && Array.isArray(live) && live.length > 0) {
    if (Array.isArray(intent)) return mergeLists(live, intent, seen.type, depth);
    if (intent === null) return live;
  }
  return equalsWritten(live, intent, type, depth) ? live : intent;
}

function mergeMaps(live: PlainMap, intent: PlainMap, type: MapLike, depth: number): PlainMap {
  let result = live;
  for (const name in intent) {
    const before = fieldOf(live, name);
    const after = mergeValues(before, intent[name], fieldType(type, name), depth + 1);
    if (after === before) continue;
    if (result === live) result = copyMap(live);
    setMember(result, name, after);
  }
  return result;
}

/**
 * Merges associative lists. Items that are in both follow the intent's order; items that are only
 * in the live list keep their places between them. Where the live list has duplicates of an item of
 * the intent, only the intent's item remains.
 */
function mergeLists(
  live: readonly unknown[],
  intent: readonly unknown[],
  type: List,
  depth: number,
): readonly unknown[] {
  if (intent.length === 0) return live;
  const liveElements = live.map((item, index) => itemElement(type, item, index));
  const intentElements = intent.map((item, index) => itemElement(type, item, index));
  const liveItems = itemsByElement(type, live);
  const intentSet = new Set(intentElements);
  const shared = intentElements.filter((element) => liveItems.has(element));
  const merged = new Set<string>();
  const result: unknown[] = [];
  let nextShared = 0;
  let l = 0;
  let r = 0;
  while (l < live.length || r < intent.length) {
    const element = liveElements[l];
    if (element !== undefined && r < intent.length && element !== intentElements[r]) {
      if (intentSet.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        l++; // The item is added at its place in the intent.
        continue;
      }
    }
    if (element !== undefined && element !== intentElements[r]) {
      if (!intentSet.has(element)) {
        result.push(live[l]);
        l++;
        continue;
      }
      if (merged.has(element)) l++;
    }
    if (r < intent.length) {
      if (element === intentElements[r]) l++;
      takeIntent(intentElements[r] as string, intent[r]);
      r++;
    }
  }
  return result.length === live.length && result.every((item, index) => item === live[index]) ? live : result;

  function takeIntent(element: string, item: unknown): void {
    const old = liveItems.get(element);
    const single = old?.length === 1 ? old[0] : undefined;
    result.push(single === undefined ? item : mergeValues(single, item, type.items, depth + 1));
    merged.add(element);
    if (shared[nextShared] === element) nextShared++;
  }
}
