import { isInt64, type JsonNumber, NumberLiteral, toFloat } from "../../json/number-literal.ts";

/** Whether Go decodes the number as an int64. */
export function isInteger(value: JsonNumber): value is number | bigint {
  return !(value instanceof NumberLiteral) && isInt64(value);
}

export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;

/** Converts a number as Go's `int64(x)` does, clamped to the range of int64. */
export function toInt64(value: JsonNumber): number | bigint {
  if (typeof value === "bigint") return clamp(value);
  const whole = Math.trunc(toFloat(value));
  if (Number.isSafeInteger(whole)) return whole + 0;
  if (Number.isNaN(whole)) return int64Min;
  return clamp(whole === Infinity ? int64Max : whole === -Infinity ? int64Min : BigInt(whole));
}

const clamp = (value: bigint): bigint => (value > int64Max ? int64Max : value < int64Min ? int64Min : value);

const epsilon = 1e-9;

/**
 * Whether a float is an integer; positive numbers may differ by the rounding error of a division.
 * Source: go-openapi/swag, IsFloat64AJSONInteger
 */
export function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || value < -Number.MAX_SAFE_INTEGER - 1 || value > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  const difference = Math.abs(value - whole);
  return whole > 0 && difference / (Math.abs(value) + Math.abs(whole)) < epsilon;
}
