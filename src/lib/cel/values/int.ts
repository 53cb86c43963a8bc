/**
 * int64 arithmetic. A safe integer is always a `number`, any other int64 a `bigint`; all functions
 * return this representation, or undefined on overflow.
 * Source: cel-spec, "Overflow".
 */
import type { CelInt } from "./value.ts";

/** The smallest int. */
export const int64Min = -(2n ** 63n);
/** The largest int. */
export const int64Max = 2n ** 63n - 1n;

/** The int of a number. @returns undefined outside int64 */
export function intOf(value: bigint): CelInt | undefined {
  if (value > int64Max || value < int64Min) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Whether a value is an int. */
export function isInt(value: unknown): value is CelInt {
  return typeof value === "number" || typeof value === "bigint";
}

export function addInt(left: CelInt, right: CelInt): CelInt | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return intOf(BigInt(left) + BigInt(right));
}

export function subtractInt(left: CelInt, right: CelInt): CelInt | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return intOf(BigInt(left) - BigInt(right));
}

export function multiplyInt(left: CelInt, right: CelInt): CelInt | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const product = left * right;
    if (Number.isSafeInteger(product)) return product === 0 ? 0 : product; // An int is never -0.
  }
  return intOf(BigInt(left) * BigInt(right));
}

/** Rounds towards zero. @param right not 0 */
export function divideInt(left: CelInt, right: CelInt): CelInt | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const quotient = Math.trunc(left / right);
    if (Math.abs(left) < 2 ** 52) return quotient === 0 ? 0 : quotient;
  }
  return intOf(BigInt(left) / BigInt(right));
}

/** Returns the remainder with the sign of `left`. @param right not 0 */
export function remainderInt(left: CelInt, right: CelInt): CelInt | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const rest = left % right;
    return rest === 0 ? 0 : rest;
  }
  if (BigInt(left) === int64Min && right === -1) return undefined;
  return intOf(BigInt(left) % BigInt(right));
}

export function negateInt(value: CelInt): CelInt | undefined {
  if (typeof value === "number") return value === 0 ? 0 : -value;
  return intOf(-value);
}
