import { trimStartOf } from "./trim.ts";

/** The number of digits of the largest uint64. */
const digitsMax = 20;

/**
 * Parses decimal digits, which may have a sign, in linear time; `BigInt` takes longer.
 *
 * @returns the number; 2^64 or -2^64 for one with more digits than any integer of 64 bits
 */
export function clampedInteger(text: string): bigint {
  const isNegative = text.startsWith("-");
  const digits = trimStartOf(isNegative || text.startsWith("+") ? text.slice(1) : text, "0");
  const magnitude = digits.length > digitsMax ? 2n ** 64n : BigInt(digits);
  return isNegative ? -magnitude : magnitude;
}
