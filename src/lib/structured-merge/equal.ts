/**
 * Equality of values that the merge compares as a whole. Source:
 * https://github.com/kubernetes-sigs/structured-merge-diff.
 */
import { isNumber, toFloat } from "../json/number-literal.ts";
import type { Field, Struct, Type } from "./schema.ts";
import { checkDepth, fieldOf, fieldType, isMap, isWhole, type PlainMap, serialized } from "./typed.ts";

/**
 * Deep equality; the order of object members does not matter.
 * @param depth the level of the values in their object
 * @throws TypedError beyond `depthMax` levels
 */
function equalValues(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return sameNumber(a, b);
  checkDepth(depth);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!equalValues(a[index], b[index], depth + 1)) return false;
    return true;
  }
  if (!isMap(a) || !isMap(b)) return sameNumber(a, b);
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !equalValues(a[name], b[name], depth + 1)) return false;
    count++;
  }
  for (const _name in b) count--;
  return count === 0;
}

/** Whether two values, which are not the same, are an integer and a float of the same value, or two floats. */
function sameNumber(a: unknown, b: unknown): boolean {
  return isNumber(a) && isNumber(b) && !(typeof a === "bigint" && typeof b === "bigint") && toFloat(a) === toFloat(b);
}

/**
 * The side of a comparison that holds values exactly as a client wrote them: there, an empty value
 * counts as written. Values of the other side have the form that the schema decoder returns.
 */
export type Written = "left" | "right" | undefined;

/**
 * Equality of the forms that Go serializes: an absent field may equal an empty one. What one side
 * holds as a whole value of a client is compared as it is written.
 * @param depth the level of the values in their object
 * @throws TypedError beyond `depthMax` levels
 */
export function equalSerialized(a: unknown, b: unknown, type: Type, written: Written, depth = 0): boolean {
  if (a === b) return true;
  checkDepth(depth);
  if (written !== undefined && isWhole(type))
    return written === "left" ? equalsWritten(b, a, type, depth) : equalsWritten(a, b, type, depth);
  if (type.kind === "list" && Array.isArray(a) && Array.isArray(b)) {
    return (
      a.length === b.length && a.every((item, index) => equalSerialized(item, b[index], type.items, written, depth + 1))
    );
  }
  if (type.kind === "struct" && isMap(a) && isMap(b)) return equalFields(a, b, type, written, depth);
  if (type.kind === "map" && isMap(a) && isMap(b)) {
    const names = Object.keys(a);
    if (names.length !== Object.keys(b).length) return false;
    return names.every(
      (name) => Object.hasOwn(b, name) && equalSerialized(a[name], b[name], type.values, written, depth + 1),
    );
  }
  return equalValues(a, b, depth);
}

/**
 * Whether a client wrote a value exactly as Go serializes it, with every zero value that Go writes.
 * @param value as the schema decoder returns it
 * @throws TypedError beyond `depthMax` levels
 */
export function equalsWritten(value: unknown, written: unknown, type: Type, depth = 0): boolean {
  checkDepth(depth);
  if (type.kind === "list" && Array.isArray(value) && Array.isArray(written)) {
    if (value.length !== written.length) return false;
    return value.every((item, index) => equalsWritten(item, written[index], type.items, depth + 1));
  }
  if ((type.kind !== "struct" && type.kind !== "map") || !isMap(value) || !isMap(written))
    return equalValues(value, written, depth);
  let count = 0;
  const equalsPart = (name: string, part: unknown): boolean => {
    if (part === undefined) return true;
    count++;
    return Object.hasOwn(written, name) && equalsWritten(part, written[name], fieldType(type, name), depth + 1);
  };
  if (type.kind === "struct")
    for (const field of type.fields)
      if (!equalsPart(field.name, serialized(field, fieldOf(value, field.name)))) return false;
  for (const name in value)
    if ((type.kind === "map" || !type.byName.has(name)) && !equalsPart(name, value[name])) return false;
  return Object.keys(written).length === count;
}

function equalFields(a: PlainMap, b: PlainMap, type: Struct, written: Written, depth: number): boolean {
  const equalAt = (name: string): boolean => {
    const field = type.byName.get(name);
    const left = fieldOf(a, name);
    const right = fieldOf(b, name);
    if (field === undefined) return equalValues(left, right, depth + 1);
    return equalSerialized(
      serializedSide("left", field, left, written),
      serializedSide("right", field, right, written),
      field.type,
      written,
      depth + 1,
    );
  };
  for (const name in a) if (!equalAt(name)) return false;
  for (const name in b) if (!Object.hasOwn(a, name) && !equalAt(name)) return false;
  return true;
}

/**
 * The value as the given side serializes it.
 * @param value undefined when absent
 */
export function serializedSide(side: Written, field: Field, value: unknown, written: Written): unknown {
  return written === side && value !== undefined ? value : serialized(field, value);
}
