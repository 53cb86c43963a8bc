/** Lays an applied intent over the live object. */
import type { List, MapType, Struct, Type } from "../schema/schema.ts";
import { fieldType, granular, isMap, itemElement, itemsByElement, type PlainMap } from "./typed.ts";

/** The intent wins; what it does not mention stays. Neither argument is changed; the result may share parts of both. */
export function merge(live: PlainMap, intent: PlainMap, schema: Struct): PlainMap {
  return mergeMaps(live, intent, schema);
}

function mergeValues(live: unknown, intent: unknown, type: Type): unknown {
  if (intent === undefined) return live;
  if (live === undefined || live === null || intent === null) return intent;
  const seen = granular(type, intent);
  if (seen?.form === "map" && isMap(live) && isMap(intent)) return mergeMaps(live, intent, seen.type);
  if (seen?.form === "list" && Array.isArray(live) && Array.isArray(intent)) return mergeLists(live, intent, seen.type);
  return intent;
}

function mergeMaps(live: PlainMap, intent: PlainMap, type: Struct | MapType | undefined): PlainMap {
  const result = new Map(Object.entries(live));
  for (const [name, value] of Object.entries(intent)) result.set(name, mergeValues(result.get(name), value, fieldType(type, name)));
  return Object.fromEntries(result);
}

/** Items of both keep the intent's order among themselves; those only in the live list keep their places between them. */
function mergeLists(live: readonly unknown[], intent: readonly unknown[], type: List): unknown[] {
  const liveElements = live.map((item, index) => itemElement(type, item, index));
  const intentElements = intent.map((item, index) => itemElement(type, item, index));
  const liveItems = itemsByElement(type, live);
  const intentItems = itemsByElement(type, intent);
  const shared = intentElements.filter((element) => liveItems.has(element));
  const merged = new Set<string>();
  const result: unknown[] = [];
  let nextShared = 0;
  let l = 0;
  let r = 0;
  const takeIntent = (): void => {
    const element = intentElements[r] as string;
    const item = intent[r];
    const old = liveItems.get(element)?.[0];
    result.push(type.listType === "map" ? mergeValues(old, item, type.items) : item);
    merged.add(element);
    if (shared[nextShared] === element) nextShared++;
    r++;
  };
  while (l < live.length || r < intent.length) {
    const element = liveElements[l];
    if (element !== undefined && r < intent.length) {
      if (element === intentElements[r]) {
        takeIntent();
        l++;
        continue;
      }
      if (intentItems.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        l++; // It has its turn where the intent wants it.
        continue;
      }
    }
    if (element !== undefined) {
      if (!intentItems.has(element)) {
        result.push(live[l]);
        l++;
        continue;
      }
      if (merged.has(element)) {
        l++;
        continue;
      }
    }
    if (r < intent.length) takeIntent();
  }
  return result;
}
