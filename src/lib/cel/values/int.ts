/** int64 arithmetic over numbers while they are safe, bigints beyond. Every function gives the one representation of its result. */
import type { CelInt } from "./value.ts";

export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;

/** @returns undefined when it is no int64 */
export function intOf(value: bigint): CelInt | undefined {
  if (value > int64Max || value < int64Min) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function isInt(value: unknown): value is CelInt {
  return typeof value === "number" || typeof value === "bigint";
}

/** @returns undefined at overflow */
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
    if (Number.isSafeInteger(product)) return product === 0 ? 0 : product; // There is no -0 among integers.
  }
  return intOf(BigInt(left) * BigInt(right));
}

/** Towards zero. `right` is not 0. */
export function divideInt(left: CelInt, right: CelInt): CelInt | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const quotient = Math.trunc(left / right);
    if (Math.abs(left) < 2 ** 52) return quotient === 0 ? 0 : quotient;
  }
  return intOf(BigInt(left) / BigInt(right));
}

/** With the sign of `left`. `right` is not 0. */
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
