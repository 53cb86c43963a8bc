/** Estimates how much LMDB writes at most. */
import type { LedgerGroup } from "../embedded/ledger.ts";
import { recordBytesMax } from "./record.ts";

/** What a write needs at most. */
export interface SpaceNeed {
  readonly bytes: number;
  /** Those that may have pages of their own. */
  readonly records: number;
  /** Of the largest record, whose pages must be next to each other. */
  readonly largestBytes: number;
}

/** The parts of {@link needOf}: per group, per change, and per dropped change. */
const groupBytes = 256 << 10;
const changeBytes = 48 << 10;
const dropBytes = 8 << 10;

/** Estimates what a group needs: records, and copies of the pages of the trees above them. */
export function needOf({ changes, drop }: Pick<LedgerGroup, "changes" | "drop">): SpaceNeed {
  let bytes = groupBytes + changes.length * changeBytes + drop.length * dropBytes;
  let largestBytes = 0;
  for (const change of changes) {
    const recordBytes = recordBytesMax(change);
    bytes += recordBytes;
    largestBytes = Math.max(largestBytes, recordBytes);
  }
  return { bytes, records: changes.length, largestBytes };
}

/** Returns what the largest change of a group needs alone: its clients write one after the other again. */
export function largestNeed({ changes }: LedgerGroup): SpaceNeed {
  const sorted = changes.toSorted((a, b) => recordBytesMax(b) - recordBytesMax(a));
  return needOf({ changes: sorted.slice(0, 1), drop: [] });
}
