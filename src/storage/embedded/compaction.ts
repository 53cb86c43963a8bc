/**
 * Selects the history to compact, in small steps. Each step is written with the next group of
 * changes.
 */
import { type Ledger, type LedgerGroup, revisionOf } from "./ledger.ts";

/** Changes scanned in one step. Must exceed the changes of one commit. */
const stepMax = 256;

interface CompactionLimits {
  readonly historyMs: number;
  readonly historyBytesMax: number;
}

/** A part of the history to compact. */
export interface CompactionStep extends Pick<LedgerGroup, "drop"> {
  /** The newest revision that this step compacts. */
  readonly compacted: number;
  readonly historyBytes: number;
  /** Whether another step follows. */
  readonly more: boolean;
}

interface CompactionState {
  readonly compacted: number;
  readonly revision: number;
  readonly historyBytes: number;
  readonly now: number;
  /**
   * The revision of the last explicit compaction request; history before it is compacted regardless
   * of the limits.
   */
  readonly requested: number;
}

/**
 * Selects the oldest commits in the log that exceed a limit or precede the requested revision. The
 * step drops the values that they replaced, and the changes themselves if they are deletions.
 * @returns undefined when there is nothing to compact
 */
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
        revision > state.requested && state.now - at < limits.historyMs && historyBytes <= limits.historyBytesMax;
      if (stopped) break;
      compacted = revision;
    }
    if (previous !== 0 && !previousDamaged) drop.push(previous);
    if (type === "delete") drop.push(position);
    historyBytes -= bytes;
  }
  // No change is left before the requested revision. Some revisions have no change, such as that of
  // an empty store, so the loop may not reach it.
  if (stopped || heads.length < stepMax) compacted = Math.max(compacted, Math.min(state.requested, state.revision));
  if (compacted === state.compacted) return undefined;
  return { drop, compacted, historyBytes: Math.max(0, historyBytes), more: !stopped && heads.length === stepMax };
}
