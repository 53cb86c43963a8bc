/**
 * Keys with changes that are not durable yet. Commits are evaluated against the newest state,
 * readers see the durable one.
 */
import { type Change, type Ledger, revisionOf } from "./ledger.ts";

interface PendingKey {
  /** Position of the durable put; 0 when the key is absent in the durable state. */
  durable: number;
  /** The newest put or deletion. */
  newest: Change;
}

/** Replaces the change of a key that has left the map, because a table of the map may outlive it, see `LinkedList`. */
const settled: Change = {
  type: "delete",
  key: "",
  position: 0,
  at: 0,
  previous: 0,
  historyBytes: 0,
  value: Buffer.alloc(0),
};

/** The put that is the newest state of a key, without its value. */
interface NewestHead {
  readonly position: number;
  /** Undefined when the put is damaged. */
  readonly valueBytes: number | undefined;
}

export class PendingKeys {
  readonly #ledger: Ledger;
  readonly #keys = new Map<string, PendingKey>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Iterates over the pending keys. */
  keys(): IterableIterator<string> {
    return this.#keys.keys();
  }

  /** Returns the revision of the key in the newest state; 0 when it is absent. */
  newestRevision(key: string): number {
    const pending = this.#keys.get(key);
    if (pending === undefined) return revisionOf(this.#ledger.position(key));
    return pending.newest.type === "put" ? revisionOf(pending.newest.position) : 0;
  }

  /** Returns the put that is the newest state of the key; undefined when it is absent. */
  newest(key: string): Change | undefined {
    const pending = this.#keys.get(key);
    if (pending === undefined) return this.#read(this.#ledger.position(key), key);
    return pending.newest.type === "put" ? pending.newest : undefined;
  }

  /** As {@link PendingKeys.newest}, without the cost of reading the value. */
  newestHead(key: string): NewestHead | undefined {
    const pending = this.#keys.get(key);
    if (pending !== undefined)
      return pending.newest.type === "put"
        ? { position: pending.newest.position, valueBytes: pending.newest.value.length }
        : undefined;
    const position = this.#ledger.position(key);
    return position === 0 ? undefined : { position, valueBytes: this.#ledger.valueBytes(position, key) };
  }

  /**
   * Returns the put that is the durable state of the key. The ledger may be ahead of it during a
   * write.
   */
  durable(key: string): Change | undefined {
    return this.#read(this.#keys.get(key)?.durable ?? this.#ledger.position(key), key);
  }

  /** Adds a change to the newest state. Its `previous` is the position of the state before. */
  add(change: Change): void {
    const pending = this.#keys.get(change.key);
    if (pending === undefined) this.#keys.set(change.key, { durable: change.previous, newest: change });
    else pending.newest = change;
  }

  /** Marks the change as durable. */
  settle(change: Change): void {
    const pending = this.#keys.get(change.key) as PendingKey;
    if (pending.newest === change) {
      this.#keys.delete(change.key);
      pending.newest = settled;
    } else pending.durable = change.type === "put" ? change.position : 0;
  }

  /** Discards all pending changes, because their write failed. */
  clear(): void {
    this.#keys.clear();
  }

  /**
   * Iterates over the pending keys with the prefix and the positions of their durable puts; 0 when
   * absent.
   */
  *durables(prefix: string): IterableIterator<[key: string, durable: number]> {
    for (const [key, { durable }] of this.#keys) if (key.startsWith(prefix)) yield [key, durable];
  }

  #read(position: number, key: string): Change | undefined {
    return position === 0 ? undefined : this.#ledger.read(position, key);
  }
}
