/**
 * The durable engine. Values lie once, in a log by revision; `heads` maps each key to its last record. This process is the only writer, so
 * checks are decided here, against the durable state and what is being written on top of it; many commits share one transaction.
 */
import assert from "node:assert/strict";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
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
} from "../contract.ts";
import { LogHub } from "../log-hub.ts";
import type { StorageOptions } from "../options.ts";
import { type DirectoryLock, lockDirectory } from "./lock.ts";
import {
  decodeExpiry,
  decodeHead,
  decodePlace,
  decodeRecord,
  decodeWaste,
  encodeExpiry,
  encodeHead,
  encodePlace,
  encodeRecord,
  encodeWaste,
  type Head,
  type LogRecord,
  type Place,
} from "./records.ts";

export interface LmdbOptions extends StorageOptions {
  readonly dir: string;
  /** `full`: a commit resolves after it is on disk. `relaxed`: after the system has it; a crash of the machine may lose the last ones. */
  readonly durability: "full" | "relaxed";
  /** For tests: the largest size the file may grow to. */
  readonly mapBytesMax?: number;
  /** For tests: called before each transaction; throws to make it fail. */
  readonly beforeFlush?: () => void;
}

const writesMax = 128;
/** Commits that wait for their transaction; one more is refused. */
const queueMax = 10_000;
const historySweepMs = 5_000;
/** Records forgotten in one transaction, so that requests wait for no more than that. */
const compactStep = 500;
const expireStep = 128;

interface Pending {
  readonly writes: readonly PreparedWrite[];
  readonly revision: number;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: Error) => void;
}

interface PreparedWrite {
  readonly place: Place;
  readonly record: LogRecord;
  /** The state before, undefined when the key was absent. */
  readonly before: Stored | undefined;
}

/** A key's state that is decided and not yet durable. */
interface Overlay {
  readonly head: Head;
  readonly stored: Stored | undefined;
}

/** @throws Error when another server has the directory */
export async function openLmdbStorage(options: LmdbOptions): Promise<Storage> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const lock = await lockDirectory(options.dir);
  const { open } = await import("lmdb");
  const root = open({
    path: join(options.dir, "store.mdb"),
    encoding: "binary",
    keyEncoding: "binary",
    maxDbs: 8,
    cache: false,
    // A transaction is reported when it is synced, not before.
    overlappingSync: false,
    noSync: options.durability === "relaxed",
    eventTurnBatching: true,
    ...(options.mapBytesMax !== undefined && { mapSize: options.mapBytesMax }),
  });
  return new LmdbStorage(options, root, lock);
}

type Table = Database<Buffer, Buffer>;

class LmdbStorage implements Storage {
  readonly #options: LmdbOptions;
  readonly #root: RootDatabase;
  readonly #lock: DirectoryLock;
  /** Key → Head, tombstones included until they are compacted. */
  readonly #heads: Database<Buffer, string>;
  /** Place → LogRecord. */
  readonly #log: Table;
  /** Place of the record that superseded → Waste. */
  readonly #waste: Table;
  readonly #expiries: Table;
  readonly #meta: Database<Buffer, string>;
  readonly #hub = new LogHub();
  readonly #overlay = new Map<string, Overlay>();
  #queue: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  #lastPut: Promise<boolean> = Promise.resolve(true);
  /** The newest decided revision; ahead of `#revision` by what is being written. */
  #decided: number;
  #revision: number;
  #compacted: number;
  #wasteBytes = 0;
  #closed = false;
  #cancelSweep: () => void;

  constructor(options: LmdbOptions, root: RootDatabase, lock: DirectoryLock) {
    this.#options = options;
    this.#root = root;
    this.#lock = lock;
    const binary = { encoding: "binary", cache: false } as const;
    this.#heads = root.openDB("heads", { ...binary, keyEncoding: "ordered-binary" });
    this.#log = root.openDB("log", { ...binary, keyEncoding: "binary" });
    this.#waste = root.openDB("waste", { ...binary, keyEncoding: "binary" });
    this.#expiries = root.openDB("expiries", { ...binary, keyEncoding: "binary" });
    this.#meta = root.openDB("meta", { ...binary, keyEncoding: "ordered-binary" });
    const [last] = this.#log.getKeys({ reverse: true, limit: 1 });
    this.#revision = Math.max(1, this.#metaNumber("revision"), last === undefined ? 0 : decodePlace(last).revision);
    this.#decided = this.#revision;
    this.#compacted = this.#metaNumber("compacted");
    for (const { value } of this.#waste.getRange()) this.#wasteBytes += decodeWaste(value).bytes;
    this.#cancelSweep = options.clock.after(0, () => this.#startSweep());
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    if (revision === undefined || revision === this.#revision) return this.#durable(key);
    this.#checkReadable(revision);
    return this.#stateAt(this.#headOf(key), revision);
  }

  async range(prefix: string, { after, limit = Number.POSITIVE_INFINITY, revision }: RangeOptions = {}): Promise<Range> {
    const at = revision ?? this.#revision;
    if (at !== this.#revision) this.#checkReadable(at);
    const entries: Stored[] = [];
    for (const { key, value } of this.#heads.getRange({ start: after ?? prefix, end: `${prefix}\uffff` })) {
      if (key === after) continue;
      const stored = this.#stateAt(decodeHead(value), at);
      if (stored === undefined) continue;
      if (entries.length === limit) return { entries, revision: at, more: true };
      entries.push(stored);
    }
    return { entries, revision: at, more: false };
  }

  async count(prefix: string): Promise<number> {
    let count = 0;
    for (const { value } of this.#heads.getRange({ start: prefix, end: `${prefix}\uffff` })) if (!decodeHead(value).deleted) count++;
    return count;
  }

  commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Conflict> {
    try {
      return this.#decide(checks, writes);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription {
    if (from < this.#compacted) throw new RevisionCompacted(this.#compacted);
    let open = true;
    const missed = this.#eventsAfter(from, prefix);
    if (missed.length === 0) {
      this.#hub.add(prefix, subscriber);
      queueMicrotask(() => open && subscriber.progress(this.#revision));
    } else {
      const seen = this.#revision;
      queueMicrotask(() => {
        if (!open) return;
        subscriber.events(this.#revision === seen ? missed : [...missed, ...this.#eventsAfter(seen, prefix)]);
        subscriber.progress(this.#revision);
        if (open) this.#hub.add(prefix, subscriber);
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
    this.#compacted = Math.max(this.#compacted, revision);
    await this.#write(() => this.#putMeta("compacted", this.#compacted));
    while (await this.#forget(this.#compacted)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async current(): Promise<number> {
    return this.#revision;
  }

  compacted(): number {
    return this.#compacted;
  }

  sizeBytes(): number {
    return statSync(join(this.#options.dir, "store.mdb")).size;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelSweep();
    await this.#sweeping;
    while (this.#flushing !== undefined) await this.#flushing;
    this.#hub.end(undefined);
    await this.#root.close();
    await this.#lock.release();
  }

  #decide(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Conflict> {
    if (this.#closed) throw new StorageUnavailable("the store is closed");
    if (this.#queue.length >= queueMax) throw new StorageUnavailable("too many writes are waiting for the disk");
    assert.ok(writes.length <= writesMax, "too many writes in one commit");
    for (const { value } of writes) {
      if (value !== null && value.length > this.#options.valueBytesMax) throw new ValueTooLarge(value.length, this.#options.valueBytesMax);
    }
    for (const { key, revision } of checks) {
      const head = this.#overlay.get(key)?.head ?? this.#headOf(key);
      if ((head === undefined || head.deleted ? 0 : head.revision) !== revision)
        return Promise.resolve({ ok: false, key, current: this.#decidedState(key) });
    }
    const effective = writes.filter(({ key, value }) => value !== null || this.#isPresent(key));
    if (effective.length === 0) return Promise.resolve({ ok: true, revision: this.#decided });
    const revision = ++this.#decided;
    const prepared = effective.map((write, index) => this.#prepare(write, { revision, index }));
    return new Promise((resolve, reject) => {
      this.#queue.push({ writes: prepared, revision, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  #prepare({ key, value, seal, ttlSeconds }: Write, place: Place): PreparedWrite {
    const before = value === null ? this.#decidedState(key) : undefined;
    const head = this.#overlay.get(key)?.head ?? this.#headOf(key);
    const previous = head === undefined ? { revision: 0, index: 0 } : { revision: head.revision, index: head.index };
    const creates = head === undefined || head.deleted;
    const expiresAt = ttlSeconds === undefined ? 0 : this.#options.clock.now() + ttlSeconds * 1000;
    const record: LogRecord = { key, value, seal, previous, creates, expiresAt };
    const stored = value === null ? undefined : { key, revision: place.revision, value, ...(seal && { seal }) };
    this.#overlay.set(key, { head: { ...place, deleted: value === null }, stored });
    return { place, record, before };
  }

  /** Writes what waits, transaction after transaction, until nothing waits. */
  async #flush(): Promise<void> {
    await Promise.resolve(); // Whoever commits in this turn comes along.
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#write(() => {
          for (const { writes } of batch) for (const write of writes) this.#put(write);
        });
      } catch (error) {
        this.#fail([...batch, ...this.#queue], error);
        break;
      }
      this.#publish(batch);
    }
    this.#flushing = undefined;
  }

  /** One transaction; resolves when it is durable. @throws what LMDB says when it is not */
  async #write(put: () => void): Promise<void> {
    this.#options.beforeFlush?.();
    put();
    try {
      await this.#lastPut; // All puts of this turn share one transaction, and without overlapping sync it is durable when it resolves.
    } catch (error) {
      throw await causeOf(error);
    } finally {
      this.#root.resetReadTxn();
    }
  }

  /** A put that fails makes its transaction fail, and the last put's promise is what is waited for. */
  #note(put: Promise<boolean>): void {
    put.catch(() => {});
    this.#lastPut = put;
  }

  #put({ place, record }: PreparedWrite): void {
    const at = encodePlace(place);
    const bytes = encodeRecord(record);
    this.#note(this.#log.put(at, bytes));
    this.#note(this.#heads.put(record.key, encodeHead({ ...place, deleted: record.value === null })));
    if (!record.creates) {
      this.#note(this.#waste.put(at, encodeWaste({ superseded: record.previous, at: this.#options.clock.now(), bytes: bytes.length })));
      this.#wasteBytes += bytes.length;
    }
    if (record.expiresAt > 0) this.#note(this.#expiries.put(encodeExpiry(record.expiresAt, place), Buffer.alloc(0)));
  }

  #publish(batch: readonly Pending[]): void {
    const events: LogEvent[] = [];
    for (const { writes, revision } of batch) {
      for (const { place, record, before } of writes) {
        const overlay = this.#overlay.get(record.key);
        if (overlay?.head.revision === place.revision) this.#overlay.delete(record.key);
        events.push(eventOf(place.revision, record, before));
      }
      this.#revision = revision;
    }
    this.#hub.deliver(events, this.#revision);
    for (const { resolve, revision } of batch) resolve({ ok: true, revision });
  }

  /** Nothing that was decided since the last durable state is true. */
  #fail(pending: readonly Pending[], cause: unknown): void {
    this.#queue = [];
    this.#overlay.clear();
    this.#decided = this.#revision;
    const why = cause instanceof Error ? cause.message : String(cause);
    for (const { reject } of pending) reject(new StorageUnavailable(`the write could not be made durable: ${why}`, { cause }));
  }

  #isPresent(key: string): boolean {
    const head = this.#overlay.get(key)?.head ?? this.#headOf(key);
    return head !== undefined && !head.deleted;
  }

  #decidedState(key: string): Stored | undefined {
    const overlay = this.#overlay.get(key);
    return overlay === undefined ? this.#durable(key) : overlay.stored;
  }

  #durable(key: string): Stored | undefined {
    const head = this.#headOf(key);
    return head === undefined || head.deleted ? undefined : storedOf(head, this.#recordAt(head));
  }

  #headOf(key: string): Head | undefined {
    const bytes = this.#heads.getBinary(key);
    return bytes === undefined ? undefined : decodeHead(bytes);
  }

  #recordAt(place: Place): LogRecord {
    const bytes = this.#log.getBinary(encodePlace(place));
    assert.ok(bytes !== undefined, "a record that is referred to is there");
    return decodeRecord(bytes);
  }

  /** Walks back from the last record to the one that held at the revision. */
  #stateAt(head: Head | undefined, revision: number): Stored | undefined {
    let place: Place | undefined = head;
    while (place !== undefined && place.revision > 0) {
      const bytes = this.#log.getBinary(encodePlace(place));
      if (bytes === undefined) return undefined; // Compacted: it was superseded before the revision asked for.
      const record = decodeRecord(bytes);
      if (place.revision <= revision) return record.value === null ? undefined : storedOf(place, record);
      place = record.previous;
    }
    return undefined;
  }

  #eventsAfter(from: number, prefix: string): LogEvent[] {
    const events: LogEvent[] = [];
    if (from >= this.#revision) return events;
    const end = encodePlace({ revision: this.#revision + 1, index: 0 });
    for (const { key, value } of this.#log.getRange({ start: encodePlace({ revision: from + 1, index: 0 }), end })) {
      const record = decodeRecord(value);
      if (!record.key.startsWith(prefix)) continue;
      const before = record.value === null ? storedOf(record.previous, this.#recordAt(record.previous)) : undefined;
      events.push(eventOf(decodePlace(key).revision, record, before));
    }
    return events;
  }

  #checkReadable(revision: number): void {
    if (revision > this.#revision) throw new RevisionInFuture(this.#revision);
    if (revision < this.#compacted) throw new RevisionCompacted(this.#compacted);
  }

  #metaNumber(name: string): number {
    return this.#meta.getBinary(name)?.readDoubleBE(0) ?? 0;
  }

  #putMeta(name: string, value: number): void {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleBE(value);
    this.#note(this.#meta.put(name, bytes));
  }

  #startSweep(): void {
    if (this.#closed) return;
    this.#sweeping = this.#sweep().catch((error: unknown) => {
      // The disk refused; writers are told so themselves, and the next sweep tries again.
      if (!(error instanceof StorageUnavailable) && !isLmdbError(error)) throw error;
    });
  }

  /** Now and then: what is too old goes, what has expired is deleted. */
  async #sweep(): Promise<void> {
    try {
      await this.#expire();
      const { historyMs, historyBytesMax, clock } = this.#options;
      let revision = 0;
      let bytes = this.#wasteBytes;
      for (const { key, value } of this.#waste.getRange()) {
        const waste = decodeWaste(value);
        if (clock.now() - waste.at <= historyMs && bytes <= historyBytesMax) break;
        bytes -= waste.bytes;
        revision = decodePlace(key).revision;
      }
      if (revision > this.#compacted && !this.#closed) await this.compact(revision);
    } finally {
      if (!this.#closed) this.#cancelSweep = this.#options.clock.after(historySweepMs, () => this.#startSweep());
    }
  }

  /** @returns whether there may be more */
  async #forget(revision: number): Promise<boolean> {
    const end = encodePlace({ revision: revision + 1, index: 0 });
    const due = [...this.#waste.getRange({ end, limit: compactStep })];
    if (due.length === 0 || this.#closed) return false;
    let bytes = 0;
    await this.#write(() => {
      this.#putMeta("revision", this.#revision);
      for (const { key, value } of due) {
        const waste = decodeWaste(value);
        bytes += waste.bytes;
        this.#note(this.#log.remove(encodePlace(waste.superseded)));
        this.#note(this.#waste.remove(key));
        const record = this.#log.getBinary(key);
        if (record !== undefined && decodeRecord(record).value === null) this.#forgetDeletion(key, decodeRecord(record).key);
      }
    });
    this.#wasteBytes -= bytes;
    return due.length === compactStep;
  }

  #forgetDeletion(place: Buffer, key: string): void {
    this.#note(this.#log.remove(place));
    const head = this.#headOf(key);
    const isLast = head !== undefined && head.revision === decodePlace(place).revision;
    if (isLast && !this.#overlay.has(key)) this.#note(this.#heads.remove(key));
  }

  async #expire(): Promise<void> {
    const now = this.#options.clock.now();
    for (;;) {
      const due = [...this.#expiries.getKeys({ end: encodeExpiry(now, { revision: 0, index: 0 }), limit: expireStep })];
      if (due.length === 0 || this.#closed) return;
      for (const bytes of due) {
        const { place } = decodeExpiry(bytes);
        const record = this.#log.getBinary(encodePlace(place));
        const key = record === undefined ? undefined : decodeRecord(record).key;
        // Written again since: another entry has the new time.
        if (key !== undefined) await this.commit([{ key, revision: place.revision }], [{ key, value: null }]);
      }
      await this.#write(() => {
        for (const bytes of due) this.#note(this.#expiries.remove(bytes));
      });
    }
  }
}

function storedOf({ revision }: Place, { key, value, seal }: LogRecord): Stored {
  return { key, revision, value: value as Buffer, ...(seal && { seal }) };
}

function eventOf(revision: number, { key, value, seal, previous, creates }: LogRecord, before: Stored | undefined): LogEvent {
  if (value !== null) return { type: "put", key, revision, previousRevision: creates ? 0 : previous.revision, value, ...(seal && { seal }) };
  const last = before as Stored;
  return {
    type: "delete",
    key,
    revision,
    previousRevision: previous.revision,
    value: last.value,
    previous: last,
    ...(last.seal && { seal: last.seal }),
  };
}

/** LMDB's error names its reason in a promise of its own. */
async function causeOf(error: unknown): Promise<unknown> {
  const reason = (error as { commitError?: Promise<unknown> }).commitError;
  if (!(reason instanceof Promise)) return error;
  return reason.then(
    () => error,
    (cause: unknown) => cause,
  );
}

/** Errors of the native library carry its number. */
function isLmdbError(error: unknown): boolean {
  return error instanceof Error && typeof (error as { code?: unknown }).code === "number";
}
