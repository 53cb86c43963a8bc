/** What has changed since an older revision, so that the state then is the durable one with these changes taken back. */
import { HistoryDamaged } from "../contract.ts";
import { type Ledger, revisionOf } from "./ledger.ts";
import type { Horizon } from "./log-subscribers.ts";

/** Changes looked at in one step. More than one commit may have. */
const stepMax = 512;
/** Differences that are remembered, for the next page of the same list; each is as large as history at most. */
const rememberedMax = 4;

export interface Difference {
  readonly revision: number;
  /** The position each key had at the revision, 0 when it was absent. Keys that have not changed since are left out. */
  readonly positions: Map<string, number>;
  /** The revision up to which changes have been looked at. */
  scanned: number;
}

export class OlderStates {
  readonly #ledger: Ledger;
  readonly #horizon: Horizon;
  #remembered: Difference[] = [];

  /** @param horizon a live view */
  constructor(ledger: Ledger, horizon: Horizon) {
    this.#ledger = ledger;
    this.#horizon = horizon;
  }

  /** What has changed since the revision, as far as it is known: {@link OlderStates.advance} it before use. */
  since(revision: number): Difference {
    if (revision === this.#horizon.revision) return { revision, positions: new Map(), scanned: revision };
    const difference = this.#remembered.find((known) => known.revision === revision) ?? {
      revision,
      positions: new Map(),
      scanned: revision,
    };
    this.#remembered = [difference, ...this.#remembered.filter((known) => known !== difference)].slice(
      0,
      rememberedMax,
    );
    return difference;
  }

  /** Looks at some more changes. @returns whether the difference reaches to this moment: it does until the caller waits for anything. @throws HistoryDamaged */
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

  /** Differences from revisions that are compacted are of no use any more. */
  forget(compacted: number): void {
    this.#remembered = this.#remembered.filter(({ revision }) => revision >= compacted);
  }
}
