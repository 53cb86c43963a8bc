/**
 * Merges an applied intent into the live object. Source: structured-merge-diff's merge; KEP-555.
 */

import { equalsWritten } from "./equal.ts";
import { elementsOf, hasSameElements, itemsByElement, KnownElements } from "./items.ts";
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
  return mergeKnown(live, intent, schema, new KnownElements());
}

/** As {@link merge}. @param known the path elements of lists of the intent */
export function mergeKnown(live: PlainMap, intent: PlainMap, schema: Struct, known: KnownElements): PlainMap {
  return mergeValues(live, intent, schema, { depth: 0, known }) as PlainMap;
}

interface Position {
  readonly depth: number;
  readonly known: KnownElements;
}

const below = ({ depth, known }: Position): Position => ({ depth: depth + 1, known });

function mergeValues(live: unknown, intent: unknown, type: Type, at: Position): unknown {
  checkDepth(at.depth);
  if (intent === undefined || live === intent) return live;
  const seen = granular(type, live) ?? granular(type, intent);
  if (seen?.form === "map" && isMap(live) && !isEmptyMap(live)) {
    if (isMap(intent)) return mergeMaps(live, intent, seen.type, at);
    if (intent === null) return live;
  }
  if (seen?.form === "list" && Array.isArray(live) && live.length > 0) {
    if (Array.isArray(intent)) return mergeLists(live, intent, seen.type, at);
    if (intent === null) return live;
  }
  return equalsWritten(live, intent, type, at.depth) ? live : intent;
}

function mergeMaps(live: PlainMap, intent: PlainMap, type: MapLike, at: Position): PlainMap {
  const inside = below(at);
  let result = live;
  for (const name in intent) {
    const before = fieldOf(live, name);
    const after = mergeValues(before, intent[name], fieldType(type, name), inside);
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
  at: Position,
): readonly unknown[] {
  if (intent.length === 0) return live;
  const ofLive = elementsOf(type, live);
  const ofIntent = at.known.of(type, intent);
  const inside = below(at);
  if (hasSameElements(ofIntent, ofLive)) return mergePairs(live, intent, type.items, inside);
  const liveElements = ofLive.elements;
  const intentElements = ofIntent.elements;
  const liveItems = itemsByElement(ofLive);
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
    result.push(single === undefined ? item : mergeValues(single, item, type.items, inside));
    merged.add(element);
    if (shared[nextShared] === element) nextShared++;
  }
}

/** Merges lists whose items belong together in pairs. */
function mergePairs(
  live: readonly unknown[],
  intent: readonly unknown[],
  type: Type,
  at: Position,
): readonly unknown[] {
  let result: unknown[] | undefined;
  for (let index = 0; index < live.length; index++) {
    const item = mergeValues(live[index], intent[index], type, at);
    if (item === live[index]) continue;
    result ??= [...live];
    result[index] = item;
  }
  return result ?? live;
}
