/** The engine for tests and embedding: everything in this process, gone with it. */
import assert from "node:assert/strict";
import {
  type Check,
  type Committed,
  type Conflict,
  type LogEvent,
  type LogSubscriber,
  type Range,
  type RangeOptions,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
  type Stored,
  type Subscription,
  ValueTooLarge,
  type Write,
} from "./contract.ts";
import { LogHub } from "./log-hub.ts";
import type { StorageOptions } from "./options.ts";

interface Past {
  readonly event: LogEvent;
  readonly at: number;
}

const writesMax = 128;

export function openMemoryStorage(options: StorageOptions): Promise<Storage> {
  return Promise.resolve(new MemoryStorage(options));
}

class MemoryStorage implements Storage {
  readonly #options: StorageOptions;
  readonly #current = new Map<string, Stored>();
  /** Sorted. */
  readonly #keys: string[] = [];
  /** Changes not yet compacted, oldest first; those before `#pastStart` are gone. */
  #past: Past[] = [];
  #pastStart = 0;
  #pastBytes = 0;
  #revision = 1;
  #compacted = 0;
  #closed = false;
  readonly #hub = new LogHub();
  readonly #expiries = new Map<string, { revision: number; cancel: () => void }>();

  constructor(options: StorageOptions) {
    this.#options = options;
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    if (revision === undefined || revision === this.#revision) return this.#current.get(key);
    this.#checkReadable(revision);
    return this.#stateAt(key, revision);
  }

  async range(prefix: string, { after, limit = Number.POSITIVE_INFINITY, revision }: RangeOptions = {}): Promise<Range> {
    const at = revision ?? this.#revision;
    if (at !== this.#revision) this.#checkReadable(at);
    const keys = at === this.#revision ? this.#keysWith(prefix) : this.#keysOnce(prefix);
    const entries: Stored[] = [];
    for (const key of keys) {
      if (after !== undefined && key <= after) continue;
      const stored = at === this.#revision ? this.#current.get(key) : this.#stateAt(key, at);
      if (stored === undefined) continue;
      if (entries.length === limit) return { entries, revision: at, more: true };
      entries.push(stored);
    }
    return { entries, revision: at, more: false };
  }

  async count(prefix: string): Promise<number> {
    return this.#keysWith(prefix).length;
  }

  async commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Conflict> {
    if (this.#closed) throw new StorageUnavailable("the store is closed");
    assert.ok(writes.length <= writesMax, "too many writes in one commit");
    for (const { value } of writes) {
      if (value !== null && value.length > this.#options.valueBytesMax) throw new ValueTooLarge(value.length, this.#options.valueBytesMax);
    }
    for (const { key, revision } of checks) {
      const current = this.#current.get(key);
      if ((current?.revision ?? 0) !== revision) return { ok: false, key, current };
    }
    const effective = writes.filter(({ key, value }) => value !== null || this.#current.has(key));
    if (effective.length === 0) return { ok: true, revision: this.#revision };
    const revision = ++this.#revision;
    const batch = effective.map((write) => this.#apply(write, revision));
    this.#remember(batch);
    this.#hub.deliver(batch, this.#revision);
    return { ok: true, revision };
  }

  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription {
    if (from < this.#compacted) throw new RevisionCompacted(this.#compacted);
    let open = true;
    const missed = this.#eventsAfter(from, prefix);
    if (missed.length === 0) this.#hub.add(prefix, subscriber);
    else {
      const seen = this.#revision;
      queueMicrotask(() => {
        if (!open) return;
        subscriber.events([...missed, ...this.#eventsAfter(seen, prefix)]);
        subscriber.progress(this.#revision);
        this.#hub.add(prefix, subscriber);
      });
    }
    return {
      close: () => {
        open = false;
        this.#hub.remove(prefix, subscriber);
      },
    };
  }

  async compact(revision: number): Promise<void> {
    if (revision > this.#revision) throw new RevisionInFuture(this.#revision);
    while (this.#pastStart < this.#past.length && (this.#past[this.#pastStart] as Past).event.revision <= revision) this.#forgetOldest();
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async current(): Promise<number> {
    return this.#revision;
  }

  compacted(): number {
    return this.#compacted;
  }

  sizeBytes(): number {
    let bytes = this.#pastBytes;
    for (const { key, value } of this.#current.values()) bytes += key.length + value.length;
    return bytes;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const { cancel } of this.#expiries.values()) cancel();
    this.#hub.end(undefined);
  }

  #apply({ key, value, seal, ttlSeconds }: Write, revision: number): LogEvent {
    const previous = this.#current.get(key);
    this.#expiries.get(key)?.cancel();
    this.#expiries.delete(key);
    const previousRevision = previous?.revision ?? 0;
    if (value === null) {
      assert.ok(previous !== undefined, "only what is there is deleted");
      this.#current.delete(key);
      this.#keys.splice(this.#position(key), 1);
      return { type: "delete", key, revision, previousRevision, value: previous.value, previous, ...(previous.seal && { seal: previous.seal }) };
    }
    if (previous === undefined) this.#keys.splice(this.#position(key), 0, key);
    this.#current.set(key, { key, revision, value, ...(seal && { seal }) });
    if (ttlSeconds !== undefined) this.#expire(key, revision, ttlSeconds);
    return { type: "put", key, revision, previousRevision, value, ...(seal && { seal }), ...(previous && { previous }) };
  }

  #expire(key: string, revision: number, ttlSeconds: number): void {
    const run = (): void => void this.commit([{ key, revision }], [{ key, value: null }]);
    this.#expiries.set(key, { revision, cancel: this.#options.clock.after(ttlSeconds * 1000, run) });
  }

  #remember(batch: readonly LogEvent[]): void {
    const at = this.#options.clock.now();
    for (const event of batch) {
      this.#past.push({ event, at });
      this.#pastBytes += event.value.length;
    }
    const { historyMs, historyBytesMax } = this.#options;
    while (this.#pastStart < this.#past.length) {
      const oldest = this.#past[this.#pastStart] as Past;
      if (oldest.event.revision === this.#revision || (at - oldest.at <= historyMs && this.#pastBytes <= historyBytesMax)) break;
      this.#compacted = oldest.event.revision;
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    this.#pastBytes -= (this.#past[this.#pastStart] as Past).event.value.length;
    this.#pastStart++;
    if (this.#pastStart < 1024 || this.#pastStart * 2 < this.#past.length) return;
    this.#past = this.#past.slice(this.#pastStart);
    this.#pastStart = 0;
  }

  #eventsAfter(from: number, prefix: string): LogEvent[] {
    const events: LogEvent[] = [];
    for (let index = this.#past.length - 1; index >= this.#pastStart; index--) {
      const { event } = this.#past[index] as Past;
      if (event.revision <= from) break;
      if (event.key.startsWith(prefix)) events.push(event);
    }
    return events.reverse();
  }

  #checkReadable(revision: number): void {
    if (revision > this.#revision) throw new RevisionInFuture(this.#revision);
    if (revision < this.#compacted) throw new RevisionCompacted(this.#compacted);
  }

  /** The state of one key at an older revision: the present one, with later changes taken back. */
  #stateAt(key: string, revision: number): Stored | undefined {
    let state = this.#current.get(key);
    for (let index = this.#past.length - 1; index >= this.#pastStart; index--) {
      const { event } = this.#past[index] as Past;
      if (event.revision <= revision) break;
      if (event.key === key) state = event.previous;
    }
    return state;
  }

  #keysWith(prefix: string): string[] {
    return this.#keys.slice(this.#position(prefix), this.#position(`${prefix}\uffff`));
  }

  /** Keys that are there or were within the history, sorted. */
  #keysOnce(prefix: string): string[] {
    const keys = new Set(this.#keysWith(prefix));
    for (let index = this.#pastStart; index < this.#past.length; index++) {
      const { key } = (this.#past[index] as Past).event;
      if (key.startsWith(prefix)) keys.add(key);
    }
    return [...keys].sort();
  }

  /** Where the key is, or would be. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
