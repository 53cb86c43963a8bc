/** Reads of the durable state, in which commits are pending, and of older ones. */
import { type Range, type RangeOptions, RevisionCompacted, RevisionInFuture, type Stored } from "../contract.ts";
import { compareKeys } from "./key-order.ts";
import type { Change, Ledger } from "./ledger.ts";
import type { Horizon } from "./log-subscribers.ts";
import { nextTurn } from "./next-turn.ts";
import { type Difference, OlderStates } from "./older-states.ts";
import type { PendingKeys } from "./pending-keys.ts";
import { storedOf } from "./views.ts";

/** Entries of a range that are read before the event loop serves other requests. */
const rangePage = 1000;

/** The reads of one store. */
export class StateReads {
  readonly #ledger: Ledger;
  readonly #pending: PendingKeys;
  readonly #horizon: Horizon;
  readonly #older: OlderStates;

  /** @param horizon updated by the caller */
  constructor(ledger: Ledger, pending: PendingKeys, horizon: Horizon) {
    this.#ledger = ledger;
    this.#pending = pending;
    this.#horizon = horizon;
    this.#older = new OlderStates(ledger, horizon);
  }

  /** The durable state of a key. */
  get(key: string): Stored | undefined {
    const change = this.#pending.durable(key);
    return change && storedOf(change);
  }

  /** The state of a key at a revision. @throws RevisionCompacted · RevisionInFuture · HistoryDamaged */
  async getAt(key: string, revision: number): Promise<Stored | undefined> {
    const difference = this.#older.since(revision);
    while (!this.#advance(difference)) await nextTurn();
    const position = difference.positions.get(key);
    const change =
      position === undefined
        ? this.#pending.durable(key)
        : position === 0
          ? undefined
          : this.#ledger.read(position, key);
    return change && storedOf(change);
  }

  /** The states of the keys with a prefix. @throws RevisionCompacted · RevisionInFuture · HistoryDamaged */
  async range(
    prefix: string,
    { after, limit = Number.POSITIVE_INFINITY, revision = this.#horizon.revision }: RangeOptions,
  ): Promise<Range> {
    const entries: Stored[] = [];
    for (let from = after; ; from = entries.at(-1)?.key) {
      const difference = this.#older.since(revision);
      while (!this.#advance(difference)) await nextTurn();
      const page = {
        prefix,
        after: from,
        positions: difference.positions,
        until: Math.min(limit, entries.length + rangePage),
      };
      const more = readPage(this.#ledger, this.#pending, page, entries);
      if (!more || entries.length >= limit) return { entries, revision, more };
      await nextTurn();
    }
  }

  /**
   * The keys with a prefix that have changed after a revision; undefined when there are more than `max`.
   * @throws RevisionCompacted · RevisionInFuture · HistoryDamaged
   */
  async changedKeys(prefix: string, after: number, max: number): Promise<readonly string[] | undefined> {
    const difference = this.#older.since(after);
    while (!this.#advance(difference)) await nextTurn();
    const keys: string[] = [];
    for (const key of difference.positions.keys()) {
      if (!key.startsWith(prefix)) continue;
      if (keys.length === max) return undefined;
      keys.push(key);
    }
    return keys;
  }

  /** The number of durable keys with a prefix. */
  count(prefix: string): number {
    let count = this.#ledger.count(prefix);
    for (const [key, durable] of this.#pending.durables(prefix))
      count += Number(durable !== 0) - Number(this.#ledger.position(key) !== 0);
    return count;
  }

  /** Drops what is cached of compacted revisions. */
  forget(compacted: number): void {
    this.#older.forget(compacted);
  }

  /**
   * Extends the difference by some changes.
   * @returns whether it is complete up to the current revision, which holds until the caller awaits
   * @throws RevisionCompacted
   * @throws RevisionInFuture
   */
  #advance(difference: Difference): boolean {
    this.#checkReadable(difference.revision);
    return this.#older.advance(difference);
  }

  #checkReadable(revision: number): void {
    if (revision > this.#horizon.revision) throw new RevisionInFuture(this.#horizon.revision);
    if (revision < this.#horizon.compacted) throw new RevisionCompacted(this.#horizon.compacted);
  }
}

interface Page {
  readonly prefix: string;
  /** Start after this key. */
  readonly after: string | undefined;
  /**
   * Positions at the requested revision of the keys that changed after it; 0 when the key was
   * absent.
   */
  readonly positions: ReadonlyMap<string, number>;
  /** Stop when `entries` has this length. */
  readonly until: number;
}

/**
 * Appends a page of the durable or an older state to the entries. Merges two sorted lists: keys
 * whose state is that of the ledger, and keys that are pending or have changed after the revision.
 * @returns whether keys remain
 */
function readPage(
  ledger: Ledger,
  pending: PendingKeys,
  { prefix, after, positions, until }: Page,
  entries: Stored[],
): boolean {
  const changed = new Set<string>();
  for (const [key] of pending.durables(prefix)) changed.add(key);
  for (const key of positions.keys()) if (key.startsWith(prefix)) changed.add(key);
  const changedInOrder = [...changed]
    .filter((key) => after === undefined || compareKeys(key, after) > 0)
    .sort(compareKeys);
  const stateOf = (key: string): Change | undefined => {
    const position = positions.get(key);
    if (position === undefined) return pending.durable(key);
    return position === 0 ? undefined : ledger.read(position, key);
  };
  let next = 0;
  /** @returns false when the page is full */
  const addChangedBefore = (key: string | undefined): boolean => {
    for (; next < changedInOrder.length; next++) {
      const candidate = changedInOrder[next] as string;
      if (key !== undefined && compareKeys(candidate, key) >= 0) break;
      const change = stateOf(candidate);
      if (change === undefined) continue;
      if (entries.length >= until) return false;
      entries.push(storedOf(change));
    }
    return true;
  };
  for (const [key, position] of ledger.keys(prefix, after)) {
    if (!addChangedBefore(key)) return true;
    if (changed.has(key)) continue;
    if (entries.length >= until) return true;
    entries.push(storedOf(ledger.read(position, key)));
  }
  return !addChangedBefore(undefined);
}
