/** Latest objects of one resource, and recent events. Source: architecture, "Watch cache"; resource-api §4.6, §4.7, §4.12. */
import type { Clock } from "../apimachinery/clock.ts";
import { type ApiError, expired, resourceVersionTooLarge, tooManyRequests } from "../apimachinery/errors.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import {
  type LogEvent,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  type Stored,
  type Subscription,
} from "../storage/contract.ts";
import type { CacheEvent, CacheSubscriber, CacheSubscription, Entry, Snapshot, Topic, WatchCache } from "./contract.ts";
import { CacheCounts } from "./counts.ts";
import { deletedEntry } from "./entry.ts";
import { bytesOf, EventRing } from "./event-ring.ts";
import { followReadable, type ReadableFollower } from "./follow-readable.ts";
import { readHistory, supersededAt } from "./history.ts";
import { IndexedTree } from "./indexed-tree.ts";
import { isTreeSnapshot, KeptSnapshots, snapshotOf, type TreeSnapshot } from "./snapshots.ts";
import { readStored, readStoredAt, type StoredState } from "./stored-state.ts";
import { eventsByTopic, topicText } from "./topics.ts";
import { isReadFailure, unreadable } from "./unreadable.ts";

export interface WatchCacheOptions {
  readonly storage: Storage;
  /** Of the keys this cache holds. */
  readonly prefix: string;
  /** How errors name what the cache holds. */
  readonly resource?: GroupResource;
  /** Makes the entry of a stored value. @throws DecodeError · JsonSyntaxError when the value is not what the definition says */
  readonly entryOf: (stored: Stored) => Entry;
  readonly clock: Clock;
  /** Events kept for watchers that come back; the oldest go beyond any of the three, and are read from the store when they are asked for. */
  readonly eventsMax?: number;
  readonly eventBytesMax?: number;
  readonly eventAgeMaxMs?: number;
  /** How long states are kept for the next chunk of a list; no longer than the history window. */
  readonly snapshotAgeMaxMs?: number;
  /** The history window: a state that was superseded so long ago is neither shown nor watched from. */
  readonly historyMs?: number;
  /** False: exact states come from the store alone. */
  readonly keepsSnapshots?: boolean;
  /** Selectable fields that get an index. */
  readonly indexedFields?: readonly string[];
}

const defaults = {
  eventsMax: 20_000,
  eventBytesMax: 16 << 20,
  eventAgeMaxMs: 5 * 60_000,
  snapshotAgeMaxMs: 75_000,
  historyMs: Number.POSITIVE_INFINITY,
  keepsSnapshots: true,
  indexedFields: [],
  resource: { group: "", resource: "objects" },
};

/** How long a read waits for a revision that this cache has not seen. */
const freshWaitMs = 3000;
/** Times that reading back may be overtaken by events that go; each time only those are read, too. */
const reachAttemptsMax = 10;
/** The events kept and those read back together have at most so many times the bytes of the limit. */
const reachedMax = 4;
/** Reads of old states that may run or wait, one after the other. */
const storedReadsMax = 128;
/** Loads that may be overtaken by compaction before one succeeds. */
const loadAttemptsMax = 3;

export function openWatchCache(options: WatchCacheOptions): WatchCache {
  return new StorageWatchCache(options);
}

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
}

interface Reader {
  readonly subscriber: CacheSubscriber;
  /** Everything up to here has been delivered; events at or below it are not. */
  from: number;
  readonly topic: string | undefined;
  /** The number of the batch that comes next; means nothing once all are delivered. */
  next: number;
  paused: boolean;
  /** Nothing that concerns it is left in the ring. */
  caughtUp: boolean;
}

class StorageWatchCache implements WatchCache {
  readonly counts = new CacheCounts();
  readonly #options: Required<WatchCacheOptions>;
  readonly #kept: KeptSnapshots;
  readonly #readers = new Set<Reader>();
  /** Those of them who want only some events, by topic; the others under undefined. */
  readonly #byTopic = new Map<string | undefined, Set<Reader>>();
  /** Those who want to be told of progress. */
  readonly #awaiting = new Set<Reader>();
  readonly #waiters = new Set<Waiter>();
  #tree: IndexedTree;
  #revision = 0;
  /** States before it are not shown. */
  #compacted = 0;
  #snapshot: TreeSnapshot | undefined;
  #ring: EventRing;
  /** In the tree already, and with subscribers at the end of this turn of the event loop: what happens together is delivered together. */
  #undelivered: CacheEvent[] = [];
  #flush: NodeJS.Immediate | undefined;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #log: Subscription | undefined;
  /** Reads of old states that run or wait, by revision. */
  readonly #storedReads = new Map<number, Promise<TreeSnapshot>>();
  #lastStoredRead: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: WatchCacheOptions) {
    this.#options = { ...defaults, ...options };
    this.#kept = new KeptSnapshots(Math.min(this.#options.snapshotAgeMaxMs, this.#options.historyMs));
    this.#ring = this.#emptyRing(0);
    this.#tree = IndexedTree.empty(this.#options.indexedFields);
  }

  ready(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async alone(key: string): Promise<Entry | undefined> {
    const { storage, entryOf } = this.#options;
    const stored = await storage.get(key);
    try {
      return stored && entryOf(stored);
    } catch (error) {
      if (stored === undefined || !isReadFailure(error)) throw error;
      throw unreadable(key, { revision: stored.revision, error });
    }
  }

  latest(): TreeSnapshot {
    this.#snapshot ??= snapshotOf(this.#tree, this.#revision);
    return this.#snapshot;
  }

  async current(): Promise<Snapshot> {
    if (this.#closed) return this.#afresh(0);
    if (!this.#loaded) await this.ready();
    const revision = await this.#options.storage.current();
    if (revision > this.#revision || this.#closed) return this.notOlderThan(revision);
    this.counts.atOnce();
    return this.latest();
  }

  async notOlderThan(revision: number): Promise<Snapshot> {
    if (!this.#loaded && !this.#closed) await this.ready();
    if (revision <= this.#revision) this.counts.atOnce();
    else if (!this.#closed) await this.#seen(revision);
    return this.#closed ? this.#afresh(revision) : this.latest();
  }

  async exactly(revision: number): Promise<Snapshot> {
    if (!this.#loaded && !this.#closed) await this.ready();
    if (revision > this.#revision && !this.#closed) await this.#seen(revision);
    if (this.#closed) return this.#stored(revision);
    if (revision === this.#revision) return this.latest();
    if (revision < this.#compacted || this.#isOver(revision)) throw listExpired();
    if (!this.#options.keepsSnapshots) return this.#inTurn(revision);
    const snapshot =
      this.#kept.find(revision, this.#options.clock.now()) ??
      this.#undoneTo(revision) ??
      (await this.#inTurn(revision));
    this.keep(snapshot);
    return snapshot;
  }

  keep(snapshot: Snapshot): void {
    if (this.#options.keepsSnapshots && isTreeSnapshot(snapshot)) this.#kept.keep(snapshot, this.#options.clock.now());
  }

  /** Reads one old state at a time, and each once: the next read shares with those that are kept. @throws ApiError 429 when too many wait */
  #inTurn(revision: number): Promise<TreeSnapshot> {
    const pending = this.#storedReads.get(revision);
    if (pending !== undefined) return pending;
    if (this.#storedReads.size >= storedReadsMax)
      throw tooManyRequests("Too many old states are being read, please try again later.", 1);
    const turn = this.#lastStoredRead.then(async () => {
      const snapshot = await this.#stored(revision);
      this.keep(snapshot);
      return snapshot;
    });
    const finish = (): void => void this.#storedReads.delete(revision);
    this.#lastStoredRead = turn.then(finish, finish);
    this.#storedReads.set(revision, turn);
    return turn;
  }

  forgetBefore(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    this.#kept.forgetBefore(revision);
  }

  async reach(revision: number): Promise<void> {
    const events: CacheEvent[] = [];
    let read = revision;
    for (let attempt = 1; attempt <= reachAttemptsMax; attempt++) {
      if (!this.#loaded && !this.#closed) await this.ready();
      if (!this.#loaded) return; // Whoever subscribes is told so.
      if (this.#isOver(revision))
        throw expired(
          `too old resource version: ${revision} (${this.#ring.revisionAt(this.#options.clock.now() - this.#options.historyMs)})`,
        );
      const to = this.#ring.from;
      if (revision >= to) return;
      if (read < to) {
        const bytesMax = this.#options.eventBytesMax * reachedMax - this.#ring.bytes - bytesOf(events);
        const more = await readHistory(this.#options, { after: read, to, bytesMax });
        if (more === undefined) return; // The store ended, and with it every subscription.
        for (const event of more) events.push(event);
        read = to;
      }
      const { from } = this.#ring;
      if (from > read) continue; // Events were let go meanwhile.
      if (from <= revision) continue; // Another reader has brought them back, and more.
      // Readers whose batches had gone have numbers that mean others from here on.
      for (const reader of this.#readers)
        if (!reader.caughtUp && reader.next < this.#ring.first) reader.next = Number.NEGATIVE_INFINITY;
      const missing = from === read ? events : events.filter((event) => event.revision <= from);
      this.#ring.addBefore(missing, revision, this.#options.clock.now());
    }
  }

  /** Whether the state at the revision is known to have been superseded longer ago than history reaches. */
  #isOver(revision: number): boolean {
    this.#deliver();
    const at = this.#ring.supersededAt(revision);
    return at !== undefined && this.#isOld(at);
  }

  #isOld(at: number): boolean {
    return this.#options.clock.now() - at >= this.#options.historyMs;
  }

  subscribe(from: number, subscriber: CacheSubscriber, topic?: Topic): CacheSubscription {
    if (!this.#loaded) {
      setImmediate(() => subscriber.end());
      return { delivered: from, resume() {}, close() {} };
    }
    this.#deliver();
    if (from < this.#ring.from) throw expired(`too old resource version: ${from} (${this.#ring.from})`);
    const reader: Reader = {
      subscriber,
      from,
      topic: topic && topicText(topic),
      next: this.#ring.find(from),
      paused: false,
      caughtUp: false,
    };
    this.#add(reader);
    if (subscriber.progress !== undefined) this.#awaiting.add(reader);
    this.#pump(reader);
    const delivered = (): number => this.#deliveredTo(reader);
    return {
      get delivered() {
        return delivered();
      },
      resume: () => {
        if (!reader.paused || !this.#readers.has(reader)) return;
        reader.paused = false;
        this.#pump(reader);
      },
      close: () => this.#drop(reader),
    };
  }

  followReadable(follower: ReadableFollower): Promise<CacheSubscription> {
    return followReadable(this.#options, follower);
  }

  close(): void {
    this.#closed = true;
    this.#unload();
    for (const { wake } of this.#waiters) wake();
  }

  #add(reader: Reader): void {
    this.#readers.add(reader);
    const others = this.#byTopic.get(reader.topic);
    if (others === undefined) this.#byTopic.set(reader.topic, new Set([reader]));
    else others.add(reader);
  }

  #drop(reader: Reader): void {
    this.#readers.delete(reader);
    this.#awaiting.delete(reader);
    const others = this.#byTopic.get(reader.topic);
    others?.delete(reader);
    if (others?.size === 0) this.#byTopic.delete(reader.topic);
  }

  /** Ends all subscribers; the next one who asks loads anew. */
  #unload(): void {
    this.#log?.close();
    this.#log = undefined;
    if (this.#flush !== undefined) clearImmediate(this.#flush);
    this.#flush = undefined;
    this.#undelivered = [];
    this.#loaded = false;
    this.#loading = undefined;
    this.#kept.clear();
    this.#ring = this.#emptyRing(Number.POSITIVE_INFINITY);
    const readers = [...this.#readers];
    this.#readers.clear();
    this.#byTopic.clear();
    this.#awaiting.clear();
    for (const { subscriber } of readers) subscriber.end();
  }

  #emptyRing(from: number): EventRing {
    const { eventsMax, eventBytesMax, eventAgeMaxMs } = this.#options;
    return new EventRing({ eventsMax, bytesMax: eventBytesMax, ageMaxMs: eventAgeMaxMs }, from);
  }

  async #load(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { tree, revision } = await this.#read();
        this.counts.loads += 1;
        this.#start(tree, revision);
        return;
      } catch (error) {
        if (!(error instanceof RevisionCompacted) || attempt === loadAttemptsMax) throw error;
      }
    }
  }

  #start(tree: IndexedTree, revision: number): void {
    if (this.#closed) return;
    const log = this.#options.storage.log(this.#options.prefix, revision, {
      events: (batch) => this.#take(batch),
      progress: (seen) => this.#progress(seen),
      end: (error) => (error === undefined ? this.close() : this.#unload()),
    });
    this.#log = log;
    this.#tree = tree;
    this.#revision = revision;
    this.#snapshot = undefined;
    this.#ring = this.#emptyRing(revision);
    this.#loaded = true;
  }

  #read(): Promise<StoredState> {
    return readStored(this.#options, this.counts);
  }

  #take(batch: readonly LogEvent[]): void {
    if (!this.#loaded) return;
    this.counts.received += batch.length;
    const before = this.#tree;
    try {
      for (const event of batch) this.#undelivered.push(this.#apply(event));
    } catch (error) {
      if (!isReadFailure(error)) throw error;
      this.#tree = before; // What is asked for meanwhile is the state at the revision that it had.
      this.#unload(); // Whoever asks next loads, and is told why.
      return;
    }
    this.#snapshot = undefined;
    this.#flush ??= setImmediate(() => this.#deliver());
  }

  #apply(event: LogEvent): CacheEvent {
    const { type, key, revision, at } = event;
    const previous = this.#tree.get(key);
    if (type === "delete") {
      this.#tree = this.#tree.delete(key);
      const last = previous ?? this.#options.entryOf(event);
      return { type: "DELETED", revision, at, entry: deletedEntry(last, revision), previous };
    }
    const entry = this.#options.entryOf(event);
    this.#tree = this.#tree.set(entry);
    return { type: previous === undefined ? "ADDED" : "MODIFIED", revision, at, entry, previous };
  }

  #progress(revision: number): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#snapshot = undefined;
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.wake();
    if (this.#awaiting.size > 0) this.#flush ??= setImmediate(() => this.#deliver());
  }

  /** Hands what happened since to the subscribers. */
  #deliver(): void {
    if (this.#flush !== undefined) clearImmediate(this.#flush);
    this.#flush = undefined;
    if (this.#undelivered.length > 0) {
      const now = this.#options.clock.now();
      const events = this.#undelivered;
      this.#undelivered = [];
      this.counts.dispatched += events.length;
      this.#ring.add(events, now);
      this.#kept.forget(now);
      this.#publish(events);
    }
    for (const reader of this.#awaiting) this.#pump(reader);
  }

  /** To those who have everything before; the others find it in the ring. @param batch the newest of the ring */
  #publish(batch: readonly CacheEvent[]): void {
    const { next } = this.#ring;
    for (const reader of this.#byTopic.get(undefined) ?? []) if (reader.caughtUp) this.#hand(reader, batch, next);
    for (const [topic, events] of eventsByTopic(batch, this.#byTopic, this.#options.indexedFields)) {
      for (const reader of this.#byTopic.get(topic) ?? []) if (reader.caughtUp) this.#hand(reader, events, next);
    }
  }

  /** @param batch not empty @param next the number of the batch that comes after it */
  #hand(reader: Reader, batch: readonly CacheEvent[], next: number): void {
    const isNew = (batch[0] as CacheEvent).revision > reader.from;
    const events = isNew ? batch : batch.filter(({ revision }) => revision > reader.from);
    reader.next = next;
    reader.from = Math.max(reader.from, (batch.at(-1) as CacheEvent).revision);
    if (events.length === 0) return;
    reader.paused = reader.subscriber.events(events) === false;
    if (reader.paused) reader.caughtUp = false;
  }

  #pump(reader: Reader): void {
    while (!reader.paused && !reader.caughtUp && reader.next < this.#ring.next) {
      if (reader.next < this.#ring.first) {
        this.#drop(reader);
        reader.subscriber.end();
        return;
      }
      this.#hand(reader, this.#ring.batch(reader.next), reader.next + 1);
    }
    reader.caughtUp = !reader.paused;
    if (reader.paused || !this.#awaiting.has(reader)) return;
    if (reader.subscriber.progress === undefined) this.#awaiting.delete(reader);
    else reader.subscriber.progress(this.#deliveredTo(reader));
  }

  /** What is told once is never taken back: the answer grows. */
  #deliveredTo({ from, next, caughtUp }: Reader): number {
    if (!caughtUp && next < this.#ring.first) return from;
    const [coming] = !caughtUp && next < this.#ring.next ? this.#ring.batch(next) : this.#undelivered;
    return Math.max(from, coming === undefined ? this.#revision : coming.revision - 1);
  }

  /** The present state with later events taken back; undefined where these are no longer kept. */
  #undoneTo(revision: number): TreeSnapshot | undefined {
    this.#deliver();
    if (revision < this.#ring.from) return undefined;
    let tree = this.#tree;
    for (const { entry, previous } of this.#ring.backTo(revision)) {
      tree = previous === undefined ? tree.delete(entry.key) : tree.set(previous);
    }
    return snapshotOf(tree, revision);
  }

  /** For a request that came when the kind was still what this cache was made for: it is answered as it would have been. */
  async #afresh(notBefore: number): Promise<Snapshot> {
    const { tree, revision } = await this.#read();
    if (revision < notBefore) throw resourceVersionTooLarge(notBefore, revision);
    return snapshotOf(tree, revision);
  }

  /** A state older than the events kept, from the store's history. */
  async #stored(revision: number): Promise<TreeSnapshot> {
    try {
      const at = await supersededAt(this.#options, { after: revision, to: await this.#options.storage.current() });
      if (at !== undefined && this.#isOld(at)) throw listExpired();
      const base = this.#kept.closest(revision, this.latest());
      return snapshotOf(await readStoredAt(this.#options, this.counts, revision, base.tree), revision);
    } catch (error) {
      if (error instanceof RevisionCompacted) throw listExpired();
      if (error instanceof RevisionInFuture) throw resourceVersionTooLarge(revision, this.#revision);
      throw error;
    }
  }

  #seen(revision: number): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now();
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        this.#waiters.delete(waiter);
        cancel();
        this.counts.waited((clock.now() - since) / 1000);
        if (this.#revision >= revision || this.#closed) resolve();
        else reject(resourceVersionTooLarge(revision, this.#revision));
      };
      const waiter: Waiter = { revision, wake: finish };
      const cancel = clock.after(freshWaitMs, finish);
      if (this.#closed) finish();
      else this.#waiters.add(waiter);
    });
  }
}

function listExpired(): ApiError {
  return expired("The resourceVersion for the provided list is too old.");
}
