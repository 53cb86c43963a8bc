import { afterPrefix, orderedKey } from "../../lib/persistent-tree/ordered-key.ts";
import { Tree } from "../../lib/persistent-tree/tree.ts";
import type { StatePin } from "../contract.ts";
import {
  type Change,
  type Expiry,
  emptyMarks,
  type Ledger,
  type LedgerGroup,
  type Marks,
  revisionOf,
} from "./ledger.ts";

/** Approximate bytes of memory that a change uses in addition to its key and value. */
const changeBytes = 200;

/** A state of a ledger in memory. Immutable: ledgers and states share what is equal in them. */
export interface MemoryState {
  readonly revision: number;
  /** The newest put of each current key, by {@link orderedKey}. */
  readonly puts: Tree<Change>;
  /** Earliest first. */
  readonly expiries: readonly Expiry[];
  /** Approximate bytes of memory of the puts. */
  readonly bytes: number;
}

/** The state of an empty store. */
const emptyState: MemoryState = { revision: emptyMarks.revision, puts: Tree.empty(), expiries: [], bytes: 0 };

/** A ledger in memory. */
export class MemoryLedger implements Ledger {
  #marks: Marks;
  #puts: Tree<Change>;
  /** By position: deletions, and puts that were replaced. */
  readonly #history = new Map<number, Change>();
  /** Changes after the compacted revision, oldest first, starting at index `#logStart`. */
  #log: Change[] = [];
  #logStart = 0;
  /** Earliest first. A state that was read shares the array. */
  #expiries: readonly Expiry[];
  /** The same array, while no state shares it. */
  #ownExpiries: Expiry[] | undefined;
  #bytes: number;
  #historyBytes = 0;

  /** @param state what the ledger begins with, without history */
  constructor({ revision, puts, expiries, bytes }: MemoryState = emptyState) {
    this.#marks = revision === emptyMarks.revision ? emptyMarks : { revision, compacted: revision, historyBytes: 0 };
    this.#puts = puts;
    this.#expiries = expiries;
    this.#bytes = bytes;
  }

  /** Returns the newest written state. It is a pointer, and what is written later does not change it. */
  state(): MemoryState {
    this.#ownExpiries = undefined;
    return { revision: this.#marks.revision, puts: this.#puts, expiries: this.#expiries, bytes: this.#bytes };
  }

  marks(): Marks {
    return this.#marks;
  }

  position(key: string): number {
    return this.#puts.get(orderedKey(key))?.position ?? 0;
  }

  read(position: number, key: string): Change {
    const put = this.#puts.get(orderedKey(key));
    return put?.position === position ? put : (this.#history.get(position) as Change);
  }

  valueBytes(position: number, key: string): number {
    return this.read(position, key).value.length;
  }

  *keys(prefix: string, after: string | undefined): IterableIterator<[string, number]> {
    const start = orderedKey(prefix);
    const next = after === undefined ? start : `${orderedKey(after)}\0`;
    for (const { key, position } of this.#puts.values(next < start ? start : next, start + afterPrefix))
      yield [key, position];
  }

  count(prefix: string): number {
    const start = orderedKey(prefix);
    return this.#puts.rank(start + afterPrefix) - this.#puts.rank(start);
  }

  heads(after: number, limit: number): Change[] {
    return this.changes(after, limit);
  }

  changes(after: number, limit: number): Change[] {
    let low = this.#logStart;
    let high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (revisionOf((this.#log[middle] as Change).position) <= after) low = middle + 1;
      else high = middle;
    }
    return this.#log.slice(low, low + limit);
  }

  expiries(limit: number): Expiry[] {
    return this.#expiries.slice(0, limit);
  }

  async write({ changes, expiries, drop, dropExpiries, marks }: LedgerGroup): Promise<void> {
    for (const change of changes) this.#add(change);
    for (const position of drop) this.#drop(position);
    for (const expiry of expiries) this.#addExpiry(expiry);
    for (const { position } of dropExpiries) {
      const at = this.#expiries.findIndex((expiry) => expiry.position === position);
      if (at >= 0) this.#changedExpiries().splice(at, 1);
    }
    this.#marks = marks;
    this.#forget(marks.compacted);
  }

  checkReadable(): void {}

  sizeBytes(): number {
    return this.#bytes + this.#historyBytes;
  }

  /** There is no file. */
  pin(): StatePin {
    return { isHeld: true, release() {} };
  }

  async close(): Promise<void> {}

  #add(change: Change): void {
    const { type } = change;
    const key = orderedKey(change.key);
    const replaced = this.#puts.get(key);
    if (replaced !== undefined) {
      this.#bytes -= bytesOf(replaced);
      this.#keep(replaced);
    }
    if (type === "put") {
      this.#puts = this.#puts.set(key, change);
      this.#bytes += bytesOf(change);
    } else {
      this.#puts = this.#puts.delete(key);
      this.#keep(change);
    }
    this.#log.push(change);
  }

  #keep(change: Change): void {
    this.#history.set(change.position, change);
    this.#historyBytes += bytesOf(change);
  }

  #drop(position: number): void {
    const change = this.#history.get(position);
    if (change === undefined) return;
    this.#historyBytes -= bytesOf(change);
    this.#history.delete(position);
  }

  #forget(compacted: number): void {
    while (this.#logStart < this.#log.length && revisionOf((this.#log[this.#logStart] as Change).position) <= compacted)
      this.#logStart++;
    if (this.#logStart < 1024 || this.#logStart * 2 < this.#log.length) return;
    this.#log = this.#log.slice(this.#logStart);
    this.#logStart = 0;
  }

  #addExpiry(expiry: Expiry): void {
    const expiries = this.#changedExpiries();
    let at = expiries.length;
    while (at > 0 && (expiries[at - 1] as Expiry).at > expiry.at) at--;
    expiries.splice(at, 0, expiry);
  }

  #changedExpiries(): Expiry[] {
    this.#ownExpiries ??= [...this.#expiries];
    this.#expiries = this.#ownExpiries;
    return this.#ownExpiries;
  }
}

function bytesOf({ key, value }: Change): number {
  return key.length * 2 + value.length + changeBytes;
}
