/** Takes fields out of an object, or keeps nothing but them. */
import type { List, MapType, Struct, Type } from "../schema/schema.ts";
import { fieldElement } from "./fields-v1.ts";
import { below, isEmpty, type PathSet } from "./set.ts";
import { fieldType, granular, isMap, itemElement, type PlainMap } from "./typed.ts";

/** The object without the paths of the set. The argument is not changed. */
export function removeItems(value: PlainMap, set: PathSet, schema: Struct): PlainMap {
  return (prune(value, set, schema, false) ?? {}) as PlainMap;
}

/** The object with the paths of the set only. */
export function extractItems(value: PlainMap, set: PathSet, schema: Struct): PlainMap {
  return (prune(value, set, schema, true) ?? {}) as PlainMap;
}

/** @param set not empty @param keep whether the set is kept (extraction) or taken away */
function prune(value: unknown, set: PathSet, type: Type, keep: boolean): unknown {
  const seen = granular(type, value);
  if (seen?.form === "map" && isMap(value)) return pruneMap(value, set, seen.type, keep);
  if (seen?.form === "list" && Array.isArray(value)) return pruneList(value, set, seen.type, keep);
  return value;
}

function pruneMap(value: PlainMap, set: PathSet, type: Struct | MapType | undefined, keep: boolean): PlainMap | undefined {
  const result = new Map<string, unknown>();
  for (const [name, part] of Object.entries(value)) {
    const inside = below(set, fieldElement(name));
    if (isEmpty(inside)) {
      if (!keep) result.set(name, part);
    } else if (!inside.member || (keep && inside.children.size > 0)) {
      const rest = prune(part, inside, fieldType(type, name), keep);
      if (rest !== undefined) result.set(name, rest);
    } else if (keep) result.set(name, part);
  }
  return result.size === 0 ? undefined : Object.fromEntries(result);
}

function pruneList(value: readonly unknown[], set: PathSet, type: List, keep: boolean): unknown[] | undefined {
  const result: unknown[] = [];
  value.forEach((item, index) => {
    const inside = below(set, itemElement(type, item, index));
    if (isEmpty(inside)) {
      if (!keep) result.push(item);
    } else if (!inside.member || (keep && inside.children.size > 0)) {
      const rest = prune(item, inside, type.items, keep);
      if (rest !== undefined) result.push(rest);
    } else if (keep) result.push(item);
  });
  return result.length === 0 ? undefined : result;
}
