import type { StatePin } from "../contract.ts";
import { compareKeys } from "./key-order.ts";
import {
  type Change,
  type Expiry,
  emptyMarks,
  type Ledger,
  type LedgerGroup,
  type Marks,
  revisionOf,
} from "./ledger.ts";
import { SortedKeys } from "./sorted-keys.ts";

/** Approximate bytes of memory that a change uses in addition to its key and value. */
const changeBytes = 200;

/** A ledger in memory. */
export class MemoryLedger implements Ledger {
  #marks = emptyMarks;
  readonly #changes = new Map<number, Change>();
  readonly #positions = new Map<string, number>();
  readonly #keys = new SortedKeys();
  /** Changes after the compacted revision, oldest first, starting at index `#logStart`. */
  #log: Change[] = [];
  #logStart = 0;
  /** Earliest first. */
  readonly #expiries: Expiry[] = [];
  #bytes = 0;

  marks(): Marks {
    return this.#marks;
  }

  position(key: string): number {
    return this.#positions.get(key) ?? 0;
  }

  read(position: number): Change {
    return this.#changes.get(position) as Change;
  }

  valueBytes(position: number): number {
    return this.read(position).value.length;
  }

  *keys(prefix: string, after: string | undefined): IterableIterator<[string, number]> {
    for (const key of this.#keys.from(after === undefined || compareKeys(after, prefix) < 0 ? prefix : after)) {
      if (!key.startsWith(prefix)) return;
      if (key !== after) yield [key, this.position(key)];
    }
  }

  count(prefix: string): number {
    let count = 0;
    for (const key of this.#keys.from(prefix)) {
      if (!key.startsWith(prefix)) break;
      count++;
    }
    return count;
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
      if (at >= 0) this.#expiries.splice(at, 1);
    }
    this.#marks = marks;
    this.#forget(marks.compacted);
  }

  checkReadable(): void {}

  sizeBytes(): number {
    return this.#bytes;
  }

  /** There is no file. */
  pin(): StatePin {
    return { isHeld: true, release() {} };
  }

  async close(): Promise<void> {}

  #add(change: Change): void {
    const { key, position, type, previous } = change;
    this.#changes.set(position, change);
    this.#log.push(change);
    this.#bytes += bytesOf(change);
    if (type === "put") this.#positions.set(key, position);
    else this.#positions.delete(key);
    if (previous === 0) this.#keys.add(key);
    if (type === "delete") this.#keys.delete(key);
  }

  #drop(position: number): void {
    const change = this.#changes.get(position);
    if (change === undefined) return;
    this.#bytes -= bytesOf(change);
    this.#changes.delete(position);
  }

  #forget(compacted: number): void {
    while (this.#logStart < this.#log.length && revisionOf((this.#log[this.#logStart] as Change).position) <= compacted)
      this.#logStart++;
    if (this.#logStart < 1024 || this.#logStart * 2 < this.#log.length) return;
    this.#log = this.#log.slice(this.#logStart);
    this.#logStart = 0;
  }

  #addExpiry(expiry: Expiry): void {
    let at = this.#expiries.length;
    while (at > 0 && (this.#expiries[at - 1] as Expiry).at > expiry.at) at--;
    this.#expiries.splice(at, 0, expiry);
  }
}

function bytesOf({ key, value }: Change): number {
  return key.length * 2 + value.length + changeBytes;
}
