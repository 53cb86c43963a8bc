/** Keys with changes that are not durable yet. Writers see the newest state, readers the durable one. */
import { type Change, type Ledger, revisionOf } from "./ledger.ts";

interface PendingKey {
  /** What readers see; undefined when the key is absent for them. */
  durable: Change | undefined;
  /** May be a deletion. */
  newest: Change;
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
    if (pending === undefined) return this.#stored(key);
    return pending.newest.type === "put" ? pending.newest : undefined;
  }

  /** The put that made the durable state. The ledger may be ahead of it while a write is under way. */
  durable(key: string): Change | undefined {
    const pending = this.#keys.get(key);
    return pending === undefined ? this.#stored(key) : pending.durable;
  }

  /** Adds a change to the newest state. @param before the key's newest state until now */
  add(change: Change, before: Change | undefined): void {
    const pending = this.#keys.get(change.key);
    if (pending === undefined) this.#keys.set(change.key, { durable: before, newest: change });
    else pending.newest = change;
  }

  /** The change is durable. */
  settle(change: Change): void {
    const pending = this.#keys.get(change.key) as PendingKey;
    if (pending.newest === change) this.#keys.delete(change.key);
    else pending.durable = change.type === "put" ? change : undefined;
  }

  /** Nothing that is pending will become durable. */
  clear(): void {
    this.#keys.clear();
  }

  /** Pending keys with the prefix and what readers see of them. */
  *durables(prefix: string): IterableIterator<[key: string, durable: Change | undefined]> {
    for (const [key, { durable }] of this.#keys) if (key.startsWith(prefix)) yield [key, durable];
  }

  #stored(key: string): Change | undefined {
    const position = this.#ledger.position(key);
    return position === 0 ? undefined : this.#ledger.read(position);
  }
}
