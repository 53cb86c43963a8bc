/** A number as Go decodes it from JSON: an int64 if it fits and has no fraction, else a float64. */
export type JsonNumber = number | bigint;

/** Whether a value is a number. */
export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || typeof value === "bigint";
}

/** Whether Go decodes the number as an int64. */
export function isInt64(value: JsonNumber): boolean {
  return typeof value === "bigint" ? value >= int64Min && value <= int64Max : Number.isSafeInteger(value);
}

export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;

/** Converts a number as Go's `int64(x)` does, clamped to the range of int64. */
export function toInt64(value: JsonNumber): JsonNumber {
  if (typeof value === "number") {
    const whole = Math.trunc(value);
    if (Number.isSafeInteger(whole)) return whole + 0;
    if (Number.isNaN(whole)) return int64Min;
    return clamp(whole === Infinity ? int64Max : whole === -Infinity ? int64Min : BigInt(whole));
  }
  return clamp(value);
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
