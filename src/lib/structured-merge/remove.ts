/**
 * Removes or extracts fields of an object. Source: structured-merge-diff's removeItems and
 * extractItems.
 */

import { fieldElement } from "./fields-v1.ts";
import { itemElement } from "./items.ts";
import type { List, Struct, Type } from "./schema.ts";
import { below, isEmpty, type PathNode, type PathSet } from "./set.ts";
import {
  checkDepth,
  copyMap,
  fieldType,
  granular,
  isEmptyMap,
  isMap,
  type MapLike,
  type PlainMap,
  setMember,
} from "./typed.ts";

/**
 * Removes the paths of a set from an object. Maps and lists that are not in the set remain, even
 * when they become empty.
 * @returns the object itself when it has none of the paths
 */
export function removeItems(value: PlainMap, set: PathSet, schema: Struct): PlainMap {
  return without(value, set, schema, 0) as PlainMap;
}

/**
 * Reduces an object to the paths of a set. A map or list that is in the set without its content
 * becomes empty.
 */
export function extractItems(value: PlainMap, set: PathSet, schema: Struct): PlainMap {
  return (only(value, set, schema, 0) ?? {}) as PlainMap;
}

/** @param set not empty */
function without(value: unknown, set: PathSet, type: Type, depth: number): unknown {
  checkDepth(depth);
  const seen = granular(type, value);
  if (seen?.form === "map" && isMap(value)) return mapWithout(value, set, seen.type, depth);
  if (seen?.form === "list" && Array.isArray(value)) return listWithout(value, set, seen.type, depth);
  // The set has paths below a value that is now atomic: its whole content is removed.
  if (typeof value !== "object" || value === null || set.children.size === 0) return value;
  return Array.isArray(value) ? [] : {};
}

function mapWithout(value: PlainMap, set: PathSet, type: MapLike, depth: number): PlainMap {
  let result = value;
  for (const name in value) {
    const inside = set.children.get(fieldElement(name));
    if (inside === undefined || isEmpty(inside)) continue;
    const rest = inside.member ? undefined : without(value[name], inside, fieldType(type, name), depth + 1);
    if (rest === value[name]) continue;
    if (result === value) result = copyMap(value);
    if (rest === undefined) delete result[name];
    else setMember(result, name, rest);
  }
  return result;
}

function listWithout(value: readonly unknown[], set: PathSet, type: List, depth: number): readonly unknown[] {
  const result: unknown[] = [];
  let isSame = true;
  for (const [index, item] of value.entries()) {
    const inside = set.children.get(itemElement(type, item, index));
    if (inside === undefined || isEmpty(inside)) {
      result.push(item);
      continue;
    }
    const rest = inside.member ? undefined : without(item, inside, type.items, depth + 1);
    if (rest !== item) isSame = false;
    if (rest !== undefined) result.push(rest);
  }
  return isSame ? value : result;
}

/** @param set not empty */
function only(value: unknown, set: PathNode, type: Type, depth: number): unknown {
  checkDepth(depth);
  const seen = granular(type, value);
  if (seen?.form === "map" && isMap(value)) return mapOnly(value, set, seen.type, depth);
  if (seen?.form === "list" && Array.isArray(value)) return listOnly(value, set, seen.type, depth);
  return value;
}

function mapOnly(value: PlainMap, set: PathNode, type: MapLike, depth: number): PlainMap | undefined {
  const result: PlainMap = {};
  for (const name in value) {
    const inside = below(set, fieldElement(name));
    if (isEmpty(inside)) continue;
    const kept = only(value[name], inside, fieldType(type, name), depth + 1);
    if (kept !== undefined) setMember(result, name, kept);
  }
  return isEmptyMap(result) && !set.member ? undefined : result;
}

function listOnly(value: readonly unknown[], set: PathNode, type: List, depth: number): readonly unknown[] | undefined {
  const result: unknown[] = [];
  for (const [index, item] of value.entries()) {
    const inside = below(set, itemElement(type, item, index));
    if (isEmpty(inside)) continue;
    const kept = only(item, inside, type.items, depth + 1);
    if (kept !== undefined) result.push(kept);
  }
  return result.length === 0 && !set.member ? undefined : result;
}
