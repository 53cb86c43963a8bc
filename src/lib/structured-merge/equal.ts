/** Equality of values that are compared as a whole. */
import type { Field, Struct, Type } from "../schema/schema.ts";
import { checkDepth, fieldOf, isMap, type PlainMap, shown } from "./typed.ts";

/**
 * Equality to the letter, but for the order of members.
 * @param depth of the place that holds them
 * @throws TypedError beyond `depthMax` levels
 */
export function equalValues(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  checkDepth(depth);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!equalValues(a[index], b[index], depth + 1)) return false;
    return true;
  }
  if (!isMap(a) || !isMap(b)) return false;
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !equalValues(a[name], b[name], depth + 1)) return false;
    count++;
  }
  for (const _name in b) count--;
  return count === 0;
}

/** Which side is as a client wrote it: what it says counts as it stands there, empty or not. The other is as decoding by the schema leaves it. */
export type Written = "left" | "right" | undefined;

/**
 * Equality of what Go would show of both: a field that is not there may be an empty one.
 * @param depth of the place that holds them
 * @throws TypedError beyond `depthMax` levels
 */
export function equalShown(a: unknown, b: unknown, type: Type, written: Written, depth = 0): boolean {
  if (a === b) return true;
  checkDepth(depth);
  if (type.kind === "list" && Array.isArray(a) && Array.isArray(b)) {
    return (
      a.length === b.length && a.every((item, index) => equalShown(item, b[index], type.items, written, depth + 1))
    );
  }
  if (type.kind === "struct" && isMap(a) && isMap(b)) return equalFields(a, b, type, written, depth);
  if (type.kind === "map" && isMap(a) && isMap(b)) {
    const names = Object.keys(a);
    if (names.length !== Object.keys(b).length) return false;
    return names.every(
      (name) => Object.hasOwn(b, name) && equalShown(a[name], b[name], type.values, written, depth + 1),
    );
  }
  return equalValues(a, b, depth);
}

function equalFields(a: PlainMap, b: PlainMap, type: Struct, written: Written, depth: number): boolean {
  const equalAt = (name: string): boolean => {
    const field = type.byName.get(name);
    const left = fieldOf(a, name);
    const right = fieldOf(b, name);
    if (field === undefined) return equalValues(left, right, depth + 1);
    return equalShown(
      shownOf("left", field, left, written),
      shownOf("right", field, right, written),
      field.type,
      written,
      depth + 1,
    );
  };
  for (const name in a) if (!equalAt(name)) return false;
  for (const name in b) if (!Object.hasOwn(a, name) && !equalAt(name)) return false;
  return true;
}

/** @param value undefined when absent */
export function shownOf(side: Written, field: Field, value: unknown, written: Written): unknown {
  return written === side && value !== undefined ? value : shown(field, value);
}
