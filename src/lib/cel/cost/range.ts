/** Ranges of sizes and costs. They are uint64: what would be more is the largest uint64, as upstream's saturate. */

export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

export const uint64Max = 2n ** 64n - 1n;

export const unknownRange: Range = { min: 0n, max: uint64Max };

export function fixed(value: number | bigint): Range {
  return { min: BigInt(value), max: BigInt(value) };
}

function saturate(value: bigint): bigint {
  return value > uint64Max ? uint64Max : value;
}

export function plus(left: Range, right: Range): Range {
  return { min: saturate(left.min + right.min), max: saturate(left.max + right.max) };
}

export function times(left: Range, right: Range): Range {
  return { min: saturate(left.min * right.min), max: saturate(left.max * right.max) };
}

/** Rounded up, over doubles as upstream does it. */
export function timesFactor(range: Range, factor: number): Range {
  return { min: scale(range.min, factor), max: scale(range.max, factor) };
}

function scale(value: bigint, factor: number): bigint {
  const scaled = Math.ceil(Number(value) * factor);
  return scaled >= 2 ** 64 ? uint64Max : BigInt(scaled);
}

/** The range that covers both. */
export function union(left: Range, right: Range): Range {
  return { min: left.min < right.min ? left.min : right.min, max: left.max > right.max ? left.max : right.max };
}
