/** Plain JSON values: equality, copies, integers that may be bigint. */

/** An integer of JSON: a number while safe, a bigint beyond. */
export type Integer = number | bigint;

/** @returns a number where it is safe, else the bigint */
export function toInteger(value: bigint): Integer {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Adds without losing digits. */
export function addIntegers(a: Integer, b: Integer): Integer {
  return toInteger(BigInt(a) + BigInt(b));
}

export function compareIntegers(a: Integer, b: Integer): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Absent, null, or a list or map in which nothing is set. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) if (!isNothing((value as Record<string, unknown>)[key])) return false;
  return true;
}

/**
 * Equality of plain JSON in which absent, null, `[]` and `{}` are the same wherever they stand. It knows no types: a struct that is set and empty
 * (`emptyDir: {}`) equals an absent one. Where a schema is at hand, `equalBySchema` tells as upstream does.
 * @param a, b nested at most as deep as decoding keeps (`retainedDepthMax`)
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => deepEqual(item, b[index]))
    );
  }
  return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>, deepEqual);
}

/** Equality of plain JSON to the letter, but for the order of members; `undefined` members count as absent. */
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
  return equalMembers(a as Record<string, unknown>, b as Record<string, unknown>, identical);
}

function equalMembers(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  equal: (a: unknown, b: unknown) => boolean,
): boolean {
  for (const key of Object.keys(a)) if (!equal(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key) && !equal(undefined, b[key])) return false;
  return true;
}

/** Neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy that shares nothing. `__proto__` stays a member like any other. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setMember(copy, key, cloneJson((value as Record<string, unknown>)[key]));
  return copy as T;
}

/** Sets an own member, whatever its name. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}
