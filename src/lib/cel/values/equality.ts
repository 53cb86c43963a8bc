/** Equality and order of values. Source: cel-spec, "Equality" and "Ordering" */
import { isInt } from "./int.ts";
import {
  CelDouble,
  CelDuration,
  type CelInt,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  type Equality,
} from "./value.ts";

/** A value of type int, uint or double. */
export type CelNumber = CelInt | CelUint | CelDouble;

/** Returns a JavaScript number or bigint; comparisons between the two are exact. */
export function rawNumber(value: CelNumber): number | bigint {
  return typeof value === "number" || typeof value === "bigint" ? value : value.value;
}

/** Whether a value is an int, uint or double. */
export function isNumber(value: unknown): value is CelNumber {
  return isInt(value) || value instanceof CelDouble || value instanceof CelUint;
}

/**
 * The operator `==`. Numbers of different types are compared by value; NaN differs from itself.
 *
 * @returns a failure for values that cannot be compared, such as a quantity and an int
 */
export function equal(left: CelValue, right: CelValue): Equality {
  return left === null || right === null ? left === right : equalUnlessNull(left, right);
}

/** Compares elements of data with a schema: with null, too, an object or a list cannot be compared. */
export function equalUnlessNull(left: CelValue, right: CelValue): Equality {
  if (typeof left === "string" || typeof left === "boolean" || left === null) return left === right;
  if (isNumber(left)) return isNumber(right) && compareNumbers(left, right) === 0;
  if (left instanceof CelList) return left.equals(right) ?? (right instanceof CelList && equalLists(left, right));
  if (left instanceof CelMap) return left.equals(right) ?? (right instanceof CelMap && equalMaps(left, right));
  if (left instanceof CelObject) return right instanceof CelObject && left.equals(right);
  if (left instanceof CelTimestamp) return right instanceof CelTimestamp && left.nanoseconds === right.nanoseconds;
  if (left instanceof CelDuration) return right instanceof CelDuration && left.nanoseconds === right.nanoseconds;
  if (left instanceof CelTypeValue) return right instanceof CelTypeValue && left.name === right.name;
  if (left instanceof CelOptional) return right instanceof CelOptional && equalOptionals(left, right);
  if (left instanceof CelOpaque) return left.equals(right);
  return left instanceof Uint8Array && right instanceof Uint8Array && compareBytes(left, right) === 0;
}

/** As in cel-go, elements that cannot be compared count as equal. */
function equalLists(left: CelList, right: CelList): boolean {
  if (left.size !== right.size) return false;
  for (let at = 0; at < left.size; at++) if (equal(left.at(at), right.at(at)) === false) return false;
  return true;
}

function equalMaps(left: CelMap, right: CelMap): boolean {
  if (left.size !== right.size) return false;
  return left.keys().every((key) => {
    const other = right.find(key);
    return other !== undefined && equal(left.find(key) as CelValue, other) !== false;
  });
}

function equalOptionals(left: CelOptional, right: CelOptional): Equality {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equal(left.value, right.value);
}

/** Whether a list has an element. An element that cannot be compared with the value differs from it. */
export function contains(list: CelList, value: CelValue): Equality {
  const own = list.contains(value);
  if (own !== undefined) return own;
  for (let at = 0; at < list.size; at++) if (equal(value, list.at(at)) === true) return true;
  return false;
}

/** @returns negative, 0 or positive */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}

/** Compares by code points, which is also the order of the UTF-8 bytes. */
export function compareStrings(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== other) return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** @returns -1, 0 or 1; undefined if either is NaN */
export function compareNumbers(left: CelNumber, right: CelNumber): number | undefined {
  let [one, other] = [rawNumber(left), rawNumber(right)];
  if (typeof one !== typeof other) [one, other] = [Number(one), Number(other)]; // The int is rounded to a double, as in cel-go.
  if (one < other) return -1;
  if (one > other) return 1;
  return one >= other ? 0 : undefined;
}
