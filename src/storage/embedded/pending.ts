/** Keys with changes that are not durable yet. Writers see the newest state, readers the durable one. */
import { type Change, type Ledger, revisionOf } from "./ledger.ts";

interface PendingKey {
  /** Position of what readers see; 0 when the key is absent for them. */
  durable: number;
  /** May be a deletion. */
  newest: Change;
}

/** Of a put that made a newest state. */
export interface NewestHead {
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

  /** Revision of the newest state; 0 when the key is absent in it. */
  newestRevision(key: string): number {
    const pending = this.#keys.get(key);
    if (pending === undefined) return revisionOf(this.#ledger.position(key));
    return pending.newest.type === "put" ? revisionOf(pending.newest.position) : 0;
  }

  /** The put that made the newest state; undefined when the key is absent in it. */
  newest(key: string): Change | undefined {
    const pending = this.#keys.get(key);
    if (pending === undefined) return this.#read(this.#ledger.position(key), key);
    return pending.newest.type === "put" ? pending.newest : undefined;
  }

  /** Of the same, what costs less to know. */
  newestHead(key: string): NewestHead | undefined {
    const pending = this.#keys.get(key);
    if (pending !== undefined)
      return pending.newest.type === "put"
        ? { position: pending.newest.position, valueBytes: pending.newest.value.length }
        : undefined;
    const position = this.#ledger.position(key);
    return position === 0 ? undefined : { position, valueBytes: this.#ledger.valueBytes(position, key) };
  }

  /** The put that made the durable state. The ledger may be ahead of it while a write is under way. */
  durable(key: string): Change | undefined {
    return this.#read(this.#keys.get(key)?.durable ?? this.#ledger.position(key), key);
  }

  /** Adds a change to the newest state, which the change says was before it. */
  add(change: Change): void {
    const pending = this.#keys.get(change.key);
    if (pending === undefined) this.#keys.set(change.key, { durable: change.previous, newest: change });
    else pending.newest = change;
  }

  /** The change is durable. */
  settle(change: Change): void {
    const pending = this.#keys.get(change.key) as PendingKey;
    if (pending.newest === change) this.#keys.delete(change.key);
    else pending.durable = change.type === "put" ? change.position : 0;
  }

  /** Nothing that is pending will become durable. */
  clear(): void {
    this.#keys.clear();
  }

  /** Pending keys with the prefix and where what readers see of them is; 0 where that is nothing. */
  *durables(prefix: string): IterableIterator<[key: string, durable: number]> {
    for (const [key, { durable }] of this.#keys) if (key.startsWith(prefix)) yield [key, durable];
  }

  #read(position: number, key: string): Change | undefined {
    return position === 0 ? undefined : this.#ledger.read(position, key);
  }
}
