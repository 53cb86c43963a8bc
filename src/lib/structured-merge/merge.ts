/** Lays an applied intent over the live object. Source: structured-merge-diff's merge; KEP-555. */
import type { List, Struct, Type } from "../schema/schema.ts";
import { equalValues } from "./equal.ts";
import { itemElement, itemsByElement, storedElement } from "./items.ts";
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
 * The intent wins; what it does not mention stays, and so does what it names with null or as empty but has content in a map or associative list.
 * @returns the live object itself when the intent changes nothing; else a new one, which shares with both what it took over whole
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
  return equalValues(live, intent, depth) ? live : intent;
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
 * Items of both keep the intent's order among themselves; those only in the live list keep their places between them. Of items that the live list
 * has more than once, and the intent names, only the intent's is left.
 */
function mergeLists(
  live: readonly unknown[],
  intent: readonly unknown[],
  type: List,
  depth: number,
): readonly unknown[] {
  if (intent.length === 0) return live;
  const liveElements = live.map((item, index) => storedElement(type, item, index));
  const intentElements = intent.map((item, index) => itemElement(type, item, index));
  const liveItems = itemsByElement(type, live, storedElement);
  const wanted = new Set(intentElements);
  const shared = intentElements.filter((element) => liveItems.has(element));
  const merged = new Set<string>();
  const result: unknown[] = [];
  let nextShared = 0;
  let l = 0;
  let r = 0;
  while (l < live.length || r < intent.length) {
    const element = liveElements[l];
    if (element !== undefined && r < intent.length && element !== intentElements[r]) {
      if (wanted.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        l++; // It has its turn where the intent wants it.
        continue;
      }
    }
    if (element !== undefined && element !== intentElements[r]) {
      if (!wanted.has(element)) {
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
