/**
 * Ranges of sizes and costs. The bounds are uint64 and saturate at the maximum, as in cel-go.
 * Source: cel-go, checker/cost.go.
 */

/** An inclusive range. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** The largest uint, which is also the largest cost and size. */
export const uint64Max = 2n ** 64n - 1n;

/** The range of all sizes. */
export const unknownRange: Range = { min: 0n, max: uint64Max };

/** The range of one value. */
export function fixed(value: number | bigint): Range {
  return { min: BigInt(value), max: BigInt(value) };
}

function saturate(value: bigint): bigint {
  return value > uint64Max ? uint64Max : value;
}

/** The sums of both ranges. */
export function plus(left: Range, right: Range): Range {
  return { min: saturate(left.min + right.min), max: saturate(left.max + right.max) };
}

/** The products of both ranges. */
export function times(left: Range, right: Range): Range {
  return { min: saturate(left.min * right.min), max: saturate(left.max * right.max) };
}

/** Multiplies by a factor and rounds up, in floating point as in cel-go. */
export function timesFactor(range: Range, factor: number): Range {
  return { min: scale(range.min, factor), max: scale(range.max, factor) };
}

function scale(value: bigint, factor: number): bigint {
  const scaled = Math.ceil(Number(value) * factor);
  return scaled >= 2 ** 64 ? uint64Max : BigInt(scaled);
}

/** Returns the smallest range that contains both. */
export function union(left: Range, right: Range): Range {
  return { min: left.min < right.min ? left.min : right.min, max: left.max > right.max ? left.max : right.max };
}
