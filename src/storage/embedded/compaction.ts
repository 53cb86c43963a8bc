/** Decides which history goes. Each step is small and is written with the next group of changes. */
import { type Ledger, type LedgerGroup, revisionOf } from "./ledger.ts";

/** Changes looked at in one step. More than one commit may have. */
const stepMax = 256;

export interface CompactionLimits {
  readonly historyMs: number;
  readonly historyBytesMax: number;
}

export interface CompactionStep extends Pick<LedgerGroup, "drop"> {
  /** Newest revision compacted by it. */
  readonly compacted: number;
  readonly historyBytes: number;
  /** Whether the next step has something to do, too. */
  readonly more: boolean;
}

export interface CompactionState {
  readonly compacted: number;
  readonly revision: number;
  readonly historyBytes: number;
  readonly now: number;
  /** Revision up to which a caller wants history gone, whatever the limits say. */
  readonly demanded: number;
}

/** The next commits in the log that are too old, too much or not wanted. What they replaced goes, and they themselves if they are deletions. */
export function nextCompaction(
  ledger: Ledger,
  limits: CompactionLimits,
  state: CompactionState,
): CompactionStep | undefined {
  const heads = ledger.heads(state.compacted, stepMax);
  const cutOff = heads.length === stepMax ? revisionOf(heads[stepMax - 1]!.position) : Number.POSITIVE_INFINITY;
  const drop: number[] = [];
  let { compacted, historyBytes } = state;
  let stopped = false;
  for (const { type, position, previous, previousDamaged, at, historyBytes: bytes } of heads) {
    const revision = revisionOf(position);
    if (revision > state.revision || revision >= cutOff) break;
    if (revision > compacted) {
      stopped =
        revision > state.demanded && state.now - at < limits.historyMs && historyBytes <= limits.historyBytesMax;
      if (stopped) break;
      compacted = revision;
    }
    if (previous !== 0 && !previousDamaged) drop.push(previous);
    if (type === "delete") drop.push(position);
    historyBytes -= bytes;
  }
  // Up to there no change is left, though some revisions never had one, such as the empty store's.
  if (stopped || heads.length < stepMax) compacted = Math.max(compacted, Math.min(state.demanded, state.revision));
  if (compacted === state.compacted) return undefined;
  return { drop, compacted, historyBytes: Math.max(0, historyBytes), more: !stopped && heads.length === stepMax };
}
