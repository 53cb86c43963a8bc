/** Shard selectors: ranges of hashes of one metadata field. Source: KEP-5866. */

/** The fields by which objects can be assigned to shards. */
export type ShardField = "object.metadata.uid" | "object.metadata.namespace";

/** Hashes from `start`, up to but without `end`. */
export interface ShardRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** A parsed shard selector. */
export interface ShardSelector {
  readonly field: ShardField;
  /** In order, without overlaps. */
  readonly ranges: readonly ShardRange[];
  /** The selector as `shardInfo` contains it. */
  readonly text: string;
}

/** Sorts ranges and joins those that overlap or touch. */
export function joinRanges(ranges: readonly ShardRange[]): ShardRange[] {
  const joined: ShardRange[] = [];
  for (const range of ranges.toSorted((a, b) => Number(a.start > b.start) - Number(a.start < b.start))) {
    const last = joined.at(-1);
    if (last === undefined || last.end < range.start) joined.push(range);
    else if (last.end < range.end) joined[joined.length - 1] = { start: last.start, end: range.end };
  }
  return joined;
}

/** Whether a hash is in one of the ranges, in logarithmic time. */
export function isInShard({ ranges }: ShardSelector, hash: bigint): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { start, end } = ranges[middle] as ShardRange;
    if (hash < start) high = middle;
    else if (hash >= end) low = middle + 1;
    else return true;
  }
  return false;
}
