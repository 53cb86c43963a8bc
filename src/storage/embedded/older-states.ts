/** Reads of older revisions: the durable state with all later changes reverted. */
import { HistoryDamaged } from "../contract.ts";
import { type Ledger, revisionOf } from "./ledger.ts";
import type { Horizon } from "./log-subscribers.ts";

/** Changes scanned in one step. Must exceed the changes of one commit. */
const stepMax = 512;
/**
 * Differences cached for the next page of the same list; each is at most as large as the history.
 */
const cachedMax = 4;

/** The difference between an older state and the durable one. */
export interface Difference {
  readonly revision: number;
  /** Positions at the revision of the keys that changed after it; 0 when the key was absent. */
  readonly positions: Map<string, number>;
  /** The revision up to which the log has been scanned. */
  scanned: number;
}

export class OlderStates {
  readonly #ledger: Ledger;
  readonly #horizon: Horizon;
  /** Most recently used first. */
  #cached: Difference[] = [];

  /** @param horizon updated by the caller */
  constructor(ledger: Ledger, horizon: Horizon) {
    this.#ledger = ledger;
    this.#horizon = horizon;
  }

  /**
   * Returns the changes since the revision, as far as they are scanned: call {@link OlderStates.advance} before
   * use.
   */
  since(revision: number): Difference {
    if (revision === this.#horizon.revision) return { revision, positions: new Map(), scanned: revision };
    const difference = this.#cached.find((cached) => cached.revision === revision) ?? {
      revision,
      positions: new Map(),
      scanned: revision,
    };
    this.#cached = [difference, ...this.#cached.filter((cached) => cached !== difference)].slice(0, cachedMax);
    return difference;
  }

  /**
   * Scans more changes.
   * @returns whether the difference is complete up to the current revision, which holds until the
   *   caller awaits
   * @throws HistoryDamaged
   */
  advance(difference: Difference): boolean {
    const newest = this.#horizon.revision;
    if (difference.scanned === newest) return true;
    const heads = this.#ledger.heads(difference.scanned, stepMax);
    const last = heads.at(-1);
    const whole = heads.length < stepMax || last === undefined || revisionOf(last.position) > newest;
    const until = whole ? newest : revisionOf(last.position) - 1;
    for (const { key, position, previous, damage } of heads) {
      if (revisionOf(position) > until) break;
      if (damage !== undefined) throw new HistoryDamaged(revisionOf(position));
      if (!difference.positions.has(key)) difference.positions.set(key, previous);
    }
    difference.scanned = until;
    return whole;
  }

  /** Drops the cached differences of compacted revisions. */
  forget(compacted: number): void {
    this.#cached = this.#cached.filter(({ revision }) => revision >= compacted);
  }
}
