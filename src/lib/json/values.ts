/** Plain JSON values: equality, copies, and integers. */
import { NumberLiteral } from "./number-literal.ts";

/** An integer: a number if it is safe, otherwise a bigint. */
export type Integer = number | bigint;

/** Returns the number if it is safe, otherwise the bigint. */
export function toInteger(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Adds two integers without loss. */
export function addIntegers(a: Integer, b: Integer): Integer {
  return toInteger(BigInt(a) + BigInt(b));
}

/** Whether a value is absent, null, or a list or map without set members. */
function isUnset(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object" || value instanceof NumberLiteral) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) if (!isUnset((value as Record<string, unknown>)[key])) return false;
  return true;
}

/**
 * Compares plain JSON; absent, null, `[]` and `{}` are equal. An empty struct such as `emptyDir:
 * {}` equals an absent one; with a schema, use `equalBySchema`, which compares like kube-apiserver.
 *
 * @param a nested at most `retainedDepthMax` deep
 * @param b nested at most `retainedDepthMax` deep
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isUnset(a) || isUnset(b)) return isUnset(a) && isUnset(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => deepEqual(item, b[index]))
    );
  }
  if (a instanceof NumberLiteral || b instanceof NumberLiteral) return sameText(a, b);
  return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>, deepEqual);
}

/**
 * Compares plain JSON exactly, except the order of members. Undefined members count as absent. A
 * NumberLiteral equals one with the same text only.
 */
export function identical(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => identical(item, b[index]))
    );
  }
  if (a instanceof NumberLiteral || b instanceof NumberLiteral) return sameText(a, b);
  return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>, identical);
}

const sameText = (a: object, b: object): boolean =>
  a instanceof NumberLiteral && b instanceof NumberLiteral && a.text === b.text;

function equalMembers(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  equal: (a: unknown, b: unknown) => boolean,
): boolean {
  for (const key of Object.keys(a)) if (!equal(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !equal(undefined, b[key])) return false;
  return true;
}

/** Whether a value is an object: not null, an array or a NumberLiteral. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral);
}

/** Whether a value contains more objects and arrays than `most`, itself included. Reads no more of them. */
export function hasMoreParts(value: unknown, most: number): boolean {
  const parts: unknown[] = [value];
  for (let at = 0; at < parts.length; at++) {
    if (parts.length > most) return true;
    for (const member of Object.values(parts[at] as object))
      if (typeof member === "object" && member !== null && parts.push(member) > most) return true;
  }
  return false;
}

/** Returns a deep copy. `__proto__` is an ordinary member. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return cloneItems(value) as T;
  if (value instanceof NumberLiteral) return value;
  const copy = { ...value } as Record<string, unknown>; // Faster than member by member, above all for maps.
  for (const key in copy) {
    const member = copy[key];
    if (typeof member === "object" && member !== null) copy[key] = cloneJson(member);
  }
  return copy as T;
}

/** Items are mostly of one kind, and scalars are copied with the list. */
function cloneItems(list: readonly unknown[]): unknown[] {
  const copy = list.slice();
  for (let index = 0; index < copy.length; index++) {
    const item = copy[index];
    if (typeof item === "object" && item !== null) copy[index] = cloneJson(item);
  }
  return copy;
}

/** Sets an own member, also for the name `__proto__`. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

/** A JSON object, such as a piece of a document, that its readers do not change. */
export type Json = { readonly [key: string]: unknown };
