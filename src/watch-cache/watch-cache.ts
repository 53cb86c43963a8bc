/**
 * The watch cache: current objects of one resource, and recent events. See docs/architecture.md,
 * "Watch cache". Sources: Kubernetes docs, API Concepts, "Resource versions" and "Efficient
 * detection of changes"; `k8s.io/apiserver@v0.36.0/pkg/storage/cacher/cacher.go`.
 */
import { type Clock, realClock } from "../apimachinery/clock.ts";
import { ApiError, expired, resourceVersionTooLarge, tooManyRequests } from "../apimachinery/errors.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import {
  type LogEvent,
  RevisionCompacted,
  RevisionInFuture,
  RevisionsWentBack,
  type Storage,
  type Stored,
  type Subscription,
} from "../storage/contract.ts";
import type {
  CacheDifference,
  CacheEvent,
  CacheSubscriber,
  CacheSubscription,
  Entry,
  ReadableFollower,
  Snapshot,
  Topic,
  WatchCache,
} from "./contract.ts";
import { CacheCounts } from "./counts.ts";
import { deletedEntry } from "./entry.ts";
import { bytesOf, EventRing } from "./event-ring.ts";
import { findDifference } from "./find-difference.ts";
import { followReadable } from "./follow-readable.ts";
import { readHistory, supersededAt } from "./history.ts";
import { IndexedTree } from "./indexed-tree.ts";
import { ListedRevisions } from "./listed-revisions.ts";
import { isTreeSnapshot, KeptSnapshots, snapshotOf, type TreeSnapshot } from "./snapshots.ts";
import { readStored, readStoredAt, type StoredState } from "./stored-state.ts";
import { eventsByTopic, topicText } from "./topics.ts";
import { isReadFailure, readable } from "./unreadable.ts";

export interface WatchCacheOptions {
  readonly storage: Storage;
  /** The prefix of the keys in this cache. */
  readonly prefix: string;
  /** The resource, as named in errors. */
  readonly resource?: GroupResource;
  /**
   * Creates an entry from a stored value.
   * @throws DecodeError when the value does not match the schema
   * @throws JsonSyntaxError when the value is not JSON
   * @throws DamagedRecord when the stored record is damaged
   */
  readonly entryOf: (stored: Stored) => Entry;
  readonly clock: Clock;
  /**
   * Limits of the cached events. Above any of the three the oldest are dropped, and read from the
   * store when a watch needs them.
   */
  readonly eventsMax?: number;
  readonly eventBytesMax?: number;
  readonly eventAgeMaxMs?: number;
  /** How long snapshots are cached for the next chunk of a list; bounded by the history window. */
  readonly snapshotAgeMaxMs?: number;
  /**
   * The history window: watches of states that were superseded earlier are rejected, and exact lists
   * of states that were last listed earlier.
   */
  readonly historyMs?: number;
  /** False rejects watches of the states that exact lists reject, as upstream for resources without a cache. */
  readonly watchesCompacted?: boolean;
  /** False reads all exact states from the store. */
  readonly keepsSnapshots?: boolean;
  /** Selectable fields to index. */
  readonly indexedFields?: readonly string[];
  /**
   * A state of another cache with which this one begins, without reading the store, which must have the same state now
   * at the same revision.
   */
  readonly initial?: Snapshot | undefined;
  /**
   * Called when a subscriber throws: its subscription has ended, the others go on. Must not throw. Unless set, the
   * error is thrown where no subscriber notices it.
   */
  readonly failed?: (error: unknown) => void;
}

const defaults = {
  eventsMax: 20_000,
  eventBytesMax: 16 << 20,
  eventAgeMaxMs: 5 * 60_000,
  snapshotAgeMaxMs: 75_000,
  historyMs: Number.POSITIVE_INFINITY,
  watchesCompacted: true,
  keepsSnapshots: true,
  indexedFields: [],
  resource: { group: "", resource: "objects" },
  failed: (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    }),
};

/** How long a read waits for a revision that the cache has not reached. */
const freshWaitMs = 3000;
/**
 * Attempts to load old events while the cache drops others; each attempt only reads the events
 * dropped since.
 */
const reloadAttemptsMax = 10;
/** Cached and reloaded events together may use this multiple of `eventBytesMax`. */
const reloadedBytesFactor = 4;
/** Maximum number of reads of old states that run or wait. */
const storedReadsMax = 128;
/** Attempts to load the cache while compaction overtakes the read, or an older state is restored. */
const loadAttemptsMax = 3;

/** Creates a watch cache; it loads on first use. */
export function openWatchCache(options: WatchCacheOptions): WatchCache {
  return new StorageWatchCache(options);
}

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
}

interface Reader {
  readonly subscriber: CacheSubscriber;
  /** All events up to this revision have been delivered. */
  from: number;
  readonly topic: string | undefined;
  /** The number of its next batch; not used when it has caught up. */
  next: number;
  paused: boolean;
  /** Whether it has received all events in the ring. */
  caughtUp: boolean;
}

class StorageWatchCache implements WatchCache {
  readonly counts: CacheCounts;
  readonly #options: Required<Omit<WatchCacheOptions, "initial">>;
  readonly #kept: KeptSnapshots;
  readonly #readers = new Set<Reader>();
  /** Readers by topic; those without a topic under undefined. */
  readonly #byTopic = new Map<string | undefined, Set<Reader>>();
  /** Readers that receive progress. */
  readonly #awaitingProgress = new Set<Reader>();
  readonly #waiters = new Set<Waiter>();
  #tree: IndexedTree;
  #revision = 0;
  /** States before this revision are rejected. */
  #compacted = 0;
  /** The newest revision of a history that the store lost when an older state was restored. */
  #lost = 0;
  #snapshot: TreeSnapshot | undefined;
  #ring: EventRing;
  #listed: ListedRevisions;
  /**
   * Events that are applied to the tree; they are delivered as one batch at the end of this event
   * loop turn.
   */
  #undelivered: CacheEvent[] = [];
  #flush: NodeJS.Immediate | undefined;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #log: Subscription | undefined;
  /** Running and waiting reads of old states, by revision. */
  readonly #storedReads = new Map<number, Promise<TreeSnapshot>>();
  /** A running read of the newest state, for revisions that the cache has not received. */
  #readBehind: Promise<Snapshot> | undefined;
  #lastStoredRead: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: WatchCacheOptions) {
    const { initial, ...others } = options;
    this.#options = { ...defaults, ...others };
    this.counts = new CacheCounts(this.#options.eventsMax);
    this.#kept = new KeptSnapshots(Math.min(this.#options.snapshotAgeMaxMs, this.#options.historyMs));
    this.#ring = this.#emptyRing(0);
    this.#listed = new ListedRevisions(this.#options.historyMs);
    this.#tree = this.#emptyTree();
    if (initial !== undefined && isTreeSnapshot(initial)) {
      this.#loading = Promise.resolve();
      this.#start(initial.tree, initial.revision);
    }
  }

  get isLoaded(): boolean {
    return this.#loaded;
  }

  ready(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async currentEntry(key: string): Promise<Entry | undefined> {
    return this.#reportsProgress ? (await this.current()).get(key) : this.getFromStorage(key);
  }

  async getFromStorage(key: string): Promise<Entry | undefined> {
    const { storage, entryOf } = this.#options;
    const stored = await storage.get(key);
    return stored && readable(stored, entryOf);
  }

  latest(): TreeSnapshot {
    this.#snapshot ??= snapshotOf(this.#tree, this.#revision);
    return this.#snapshot;
  }

  async current(fallBack = (): void => {}): Promise<Snapshot> {
    if (this.#closed) return this.#readCurrent(0);
    if (!this.#loaded) await this.ready();
    const { storage } = this.#options;
    const revision = await storage.current();
    try {
      return await this.#atLeast(revision, fallBack);
    } catch (error) {
      if (!storage.isShared || !isTooLarge(error)) throw error;
      fallBack(); // The connection that delivers changes is broken, but the store can be read.
      return this.#readBehindCache(revision);
    }
  }

  notOlderThan(revision: number): Promise<Snapshot> {
    return this.#atLeast(revision, () => {});
  }

  async #atLeast(revision: number, fallBack: () => void): Promise<Snapshot> {
    if (!this.#reportsProgress && (await this.#isBehindStore(revision))) {
      fallBack();
      return this.#readBehindCache(revision);
    }
    if (this.#loaded && revision <= this.#revision) this.counts.countImmediateRead();
    else await this.#reach(revision);
    return this.#closed ? this.#readCurrent(revision) : this.latest();
  }

  async exactly(revision: number): Promise<Snapshot> {
    if (!this.#reportsProgress && (await this.#isBehindStore(revision))) return this.#queueReadAt(revision);
    if (!this.#loaded || revision > this.#revision) await this.#reach(revision);
    if (this.#closed) return this.#readAt(revision);
    if (this.#isForgotten(revision)) throw listExpired();
    if (revision === this.#revision) return this.latest();
    if (!this.#options.keepsSnapshots) return this.#queueReadAt(revision);
    const snapshot =
      this.#kept.find(revision, this.#options.clock.now()) ??
      this.#rollBackTo(revision) ??
      (await this.#queueReadAt(revision));
    this.keep(snapshot);
    return snapshot;
  }

  keep(snapshot: Snapshot): void {
    if (this.#options.keepsSnapshots && isTreeSnapshot(snapshot)) this.#kept.keep(snapshot, this.#options.clock.now());
  }

  listed({ revision }: Snapshot): void {
    this.#listed.add(revision, this.#options.clock.now());
  }

  /**
   * Reads old states one at a time, so that each read can share entries with the previous ones.
   * Concurrent requests of a revision share the read.
   * @throws ApiError 429 when too many reads are waiting
   */
  #queueReadAt(revision: number): Promise<TreeSnapshot> {
    const pending = this.#storedReads.get(revision);
    if (pending !== undefined) return pending;
    if (this.#storedReads.size >= storedReadsMax)
      throw tooManyRequests("Too many old states are being read, please try again later.", 1);
    const turn = this.#lastStoredRead.then(async () => {
      const snapshot = await this.#readAt(revision);
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

  async loadEventsAfter(revision: number): Promise<void> {
    if (this.#options.storage.isShared) await this.#checkExists(revision);
    const events: CacheEvent[] = [];
    let read = revision;
    for (let attempt = 1; attempt <= reloadAttemptsMax; attempt++) {
      if (!this.#loaded && !this.#closed) await this.ready();
      if (!this.#loaded) return; // `subscribe` ends the subscription.
      if (!this.#options.watchesCompacted && this.#isForgotten(revision))
        throw expired("The resourceVersion for the provided watch is too old.");
      if (this.#isExpired(revision))
        throw expired(
          `too old resource version: ${revision} (${this.#ring.revisionAt(this.#options.clock.now() - this.#options.historyMs)})`,
        );
      const to = this.#ring.from;
      if (revision >= to) return;
      if (!this.#reportsProgress) throw expired(`too old resource version: ${revision} (${to})`);
      if (read < to) {
        const bytesMax = this.#options.eventBytesMax * reloadedBytesFactor - this.#ring.bytes - bytesOf(events);
        const more = await readHistory(this.#options, { after: read, to, bytesMax });
        if (more === undefined) return; // The store was closed, which ends every subscription.
        for (const event of more) events.push(event);
        read = to;
      }
      const { from } = this.#ring;
      if (from > read) continue; // The ring has dropped more events.
      if (from <= revision) continue; // Another request has reloaded them.
      // Reloaded batches reuse numbers of dropped ones. Readers that still have such a number must
      // not continue there.
      for (const reader of this.#readers)
        if (!reader.caughtUp && reader.next < this.#ring.first) reader.next = Number.NEGATIVE_INFINITY;
      const missing = from === read ? events : events.filter((event) => event.revision <= from);
      this.#ring.addBefore(missing, revision, this.#options.clock.now());
    }
  }

  /**
   * A client can have a revision that the store does not have, after an older state was restored.
   * The client must list again: it would miss the changes until that revision.
   * @throws ApiError 410
   */
  async #checkExists(revision: number): Promise<void> {
    if (!Number.isFinite(revision)) return;
    if (!this.#loaded && !this.#closed) await this.ready();
    if (revision <= this.#revision) return;
    const newest = await this.#options.storage.current();
    if (revision > newest) throw expired(`too old resource version: ${revision} (${newest})`);
  }

  /** Returns whether the state at the revision was superseded before the history window. */
  #isExpired(revision: number): boolean {
    this.#deliver();
    const at = this.#ring.supersededAt(revision);
    return at !== undefined && this.#isBeforeWindow(at);
  }

  /** Returns whether exact lists of the state are rejected. */
  #isForgotten(revision: number): boolean {
    if (revision < this.#compacted) return true;
    this.#deliver();
    const listed = this.#listed.find(revision);
    // The first event of the resource that made this state, or replaced it.
    const [madeAt, replacedAt] = [revision - 1, revision].map((before) => this.#ring.supersededAt(before));
    const at = listed?.isOwn
      ? listed.until
      : Math.min(...[listed?.until, madeAt, replacedAt].map((time) => time ?? Number.POSITIVE_INFINITY));
    if (at === Number.POSITIVE_INFINITY) this.#listed.add(revision, this.#options.clock.now());
    return this.#isBeforeWindow(at);
  }

  #isBeforeWindow(at: number): boolean {
    return this.#options.clock.now() - at >= this.#options.historyMs;
  }

  subscribe(from: number, subscriber: CacheSubscriber, topic?: Topic): CacheSubscription {
    if (!this.#loaded) {
      setImmediate(() => this.#notify(() => subscriber.end()));
      return { delivered: from, resume() {}, close() {} };
    }
    this.#deliver();
    if (from > this.#revision && from <= this.#lost)
      throw expired(`too old resource version: ${from} (${this.#revision})`);
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
    if (subscriber.progress !== undefined) this.#awaitingProgress.add(reader);
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

  async check(): Promise<CacheDifference | undefined> {
    const log = this.#log;
    if (log === undefined) return undefined;
    const { storage, prefix } = this.#options;
    const newest = await storage.current(); // The state of an idle cache may have been compacted.
    if (this.#reportsProgress && newest > this.#revision) await this.#wait(newest, freshWaitMs);
    if (this.#log !== log) return undefined;
    const difference = await findDifference(storage, prefix, this.latest());
    if (difference === undefined || this.#log !== log) return undefined; // It was loaded again meanwhile.
    this.#unload(this.#revision);
    return difference;
  }

  followReadable(follower: ReadableFollower): Promise<CacheSubscription> {
    return followReadable(this.#options, follower);
  }

  close(): void {
    this.#closed = true;
    this.#unload();
  }

  #add(reader: Reader): void {
    this.#readers.add(reader);
    const others = this.#byTopic.get(reader.topic);
    if (others === undefined) this.#byTopic.set(reader.topic, new Set([reader]));
    else others.add(reader);
  }

  #drop(reader: Reader): void {
    this.#readers.delete(reader);
    this.#awaitingProgress.delete(reader);
    const others = this.#byTopic.get(reader.topic);
    others?.delete(reader);
    if (others?.size === 0) this.#byTopic.delete(reader.topic);
  }

  /**
   * Ends all subscriptions. The next request loads the cache again.
   * @param listFrom set when the events so far are not those of the store, so that clients must list again: its revision
   */
  #unload(listFrom?: number): void {
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
    this.#awaitingProgress.clear();
    for (const { subscriber, from } of readers) {
      const error = listFrom === undefined ? undefined : expired(`too old resource version: ${from} (${listFrom})`);
      this.#notify(() => subscriber.end(error));
    }
    for (const { wake } of this.#waiters) wake();
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
        const isOutdated = error instanceof RevisionCompacted || error instanceof RevisionInFuture;
        if (!isOutdated || attempt === loadAttemptsMax) throw error;
      }
    }
  }

  #start(tree: IndexedTree, revision: number): void {
    if (this.#closed) return;
    const log = this.#options.storage.log(this.#options.prefix, revision, {
      events: (batch) => this.#applyAll(batch),
      progress: (seen) => this.#progress(seen),
      end: (error) => this.#ended(error),
    });
    this.#log = log;
    this.#tree = tree;
    this.#revision = revision;
    this.#snapshot = undefined;
    this.#ring = this.#emptyRing(revision);
    this.#listed = new ListedRevisions(this.#options.historyMs);
    this.#listed.add(revision, this.#options.clock.now());
    this.#loaded = true;
  }

  #ended(error: Error | undefined): void {
    if (error === undefined) return this.close();
    if (!(error instanceof RevisionsWentBack)) return this.#unload();
    this.#compacted = 0;
    this.#lost = Math.max(this.#lost, this.#revision);
    this.#unload(error.compactedRevision);
  }

  #read(): Promise<StoredState> {
    return readStored(this.#options, this.counts);
  }

  #applyAll(batch: readonly LogEvent[]): void {
    if (!this.#loaded) return;
    this.counts.received += batch.length;
    const before = this.#tree;
    try {
      for (const event of batch) this.#undelivered.push(this.#apply(event));
    } catch (error) {
      if (!isReadFailure(error)) throw error;
      this.#tree = before; // The revision has not advanced.
      this.#unload(); // The next request loads the cache again, and gets the error.
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
    if (this.#awaitingProgress.size > 0) this.#flush ??= setImmediate(() => this.#deliver());
  }

  /** Delivers all undelivered events to the subscribers. */
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
    for (const reader of this.#awaitingProgress) this.#pump(reader);
  }

  /**
   * Delivers a batch to the readers that have caught up; the others read it from the ring later.
   * @param batch the newest batch of the ring
   */
  #publish(batch: readonly CacheEvent[]): void {
    const { next } = this.#ring;
    for (const reader of this.#byTopic.get(undefined) ?? []) if (reader.caughtUp) this.#deliverTo(reader, batch, next);
    for (const [topic, events] of eventsByTopic(batch, this.#byTopic, this.#options.indexedFields)) {
      for (const reader of this.#byTopic.get(topic) ?? []) if (reader.caughtUp) this.#deliverTo(reader, events, next);
    }
  }

  /**
   * Delivers a batch to a reader, without events that it already has.
   * @param batch not empty
   * @param next the number of the batch after it
   */
  #deliverTo(reader: Reader, batch: readonly CacheEvent[], next: number): void {
    const isNew = (batch[0] as CacheEvent).revision > reader.from;
    const events = isNew ? batch : batch.filter(({ revision }) => revision > reader.from);
    reader.next = next;
    reader.from = Math.max(reader.from, (batch.at(-1) as CacheEvent).revision);
    if (events.length === 0) return;
    try {
      reader.paused = reader.subscriber.events(events) === false;
    } catch (error) {
      return this.#endFailed(reader, error);
    }
    if (reader.paused) reader.caughtUp = false;
  }

  /** Ends the subscription of a subscriber that has thrown. */
  #endFailed(reader: Reader, error: unknown): void {
    const { failed } = this.#options;
    const { subscriber } = reader;
    reader.paused = true; // Nothing more is delivered.
    reader.caughtUp = false;
    this.#drop(reader);
    failed(error);
    this.#notify(() => (subscriber.failed === undefined ? subscriber.end() : subscriber.failed(error)));
  }

  /** Lets subscribers know of their end: one that throws does not affect the others. */
  #notify(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#options.failed(error);
    }
  }

  /** Delivers batches of the ring, then progress, until the reader has caught up or pauses. */
  #pump(reader: Reader): void {
    while (!reader.paused && !reader.caughtUp && reader.next < this.#ring.next) {
      if (reader.next < this.#ring.first) {
        this.#drop(reader);
        return this.#notify(() => reader.subscriber.end());
      }
      this.#deliverTo(reader, this.#ring.batch(reader.next), reader.next + 1);
    }
    reader.caughtUp = !reader.paused;
    if (reader.paused || !this.#awaitingProgress.has(reader)) return;
    if (reader.subscriber.progress === undefined) this.#awaitingProgress.delete(reader);
    else this.#reportProgress(reader);
  }

  #reportProgress(reader: Reader): void {
    try {
      reader.subscriber.progress?.(this.#deliveredTo(reader));
    } catch (error) {
      this.#endFailed(reader, error);
    }
  }

  /** Returns the revision up to which the reader has received everything. It never decreases. */
  #deliveredTo({ from, next, caughtUp }: Reader): number {
    if (!caughtUp && next < this.#ring.first) return from;
    const [coming] = !caughtUp && next < this.#ring.next ? this.#ring.batch(next) : this.#undelivered;
    return Math.max(from, coming === undefined ? this.#revision : coming.revision - 1);
  }

  /** Reverts events from the current state; undefined when the ring does not have all of them. */
  #rollBackTo(revision: number): TreeSnapshot | undefined {
    this.#deliver();
    if (revision < this.#ring.from) return undefined;
    let tree = this.#tree;
    for (const { entry, previous } of this.#ring.backTo(revision)) {
      tree = previous === undefined ? tree.delete(entry.key) : tree.set(previous);
    }
    return snapshotOf(tree, revision);
  }

  /**
   * Serves a request that started before the cache was closed, because the definition of its
   * resource has changed.
   */
  async #readCurrent(notBefore: number): Promise<Snapshot> {
    const { tree, revision } = await this.#read();
    if (revision < notBefore) throw resourceVersionTooLarge(notBefore, revision);
    return snapshotOf(tree, revision);
  }

  /**
   * If not, revisions that the cache does not have are read from the store. Source:
   * `ConsistentReadSupported` in k8s.io/apiserver@v0.36.0/pkg/storage/cacher/delegator/interface.go.
   */
  get #reportsProgress(): boolean {
    return this.#options.storage.reportsProgress;
  }

  /**
   * Whether the store has the revision, and the cache does not.
   * @throws ApiError 504 when neither the store answers nor the cache reaches the revision in time
   */
  async #isBehindStore(revision: number): Promise<boolean> {
    if (this.#closed) return false;
    if (!this.#loaded) await this.ready();
    if (revision <= this.#revision) return false;
    const reached = this.#wait(revision, freshWaitMs).then((woken) => {
      if (!woken) throw resourceVersionTooLarge(revision, this.#revision);
      return 0;
    });
    return revision <= (await Promise.race([this.#options.storage.current(), reached]));
  }

  /**
   * Reads the newest state for a revision that the cache has not received. Callers share reads.
   * Source: `CacheDelegator.GetList` in k8s.io/apiserver@v0.36.0/pkg/storage/cacher/delegator.go.
   */
  async #readBehindCache(notBefore: number): Promise<Snapshot> {
    if (this.#readBehind !== undefined) {
      const running = await this.#readBehind;
      if (running.revision >= notBefore) return running;
    }
    // Callers that waited for an older state share the next one.
    this.#readBehind ??= this.#readCurrent(notBefore).finally(() => {
      this.#readBehind = undefined;
    });
    return this.#readBehind;
  }

  /** A shared store does not know the times of its changes; compaction alone limits its history. */
  async #isSupersededBeforeWindow(revision: number): Promise<boolean> {
    const { storage } = this.#options;
    if (storage.isShared) return false;
    const at = await supersededAt(this.#options, { after: revision, to: await storage.current() });
    return at !== undefined && this.#isBeforeWindow(at);
  }

  /** Reads a state from the store's history. */
  async #readAt(revision: number): Promise<TreeSnapshot> {
    try {
      if (await this.#isSupersededBeforeWindow(revision)) throw listExpired();
      const tree = this.#loaded ? this.#kept.closest(revision, this.latest()).tree : this.#emptyTree();
      return snapshotOf(await readStoredAt(this.#options, this.counts, revision, tree), revision);
    } catch (error) {
      if (error instanceof RevisionCompacted) throw listExpired();
      if (error instanceof RevisionInFuture) throw resourceVersionTooLarge(revision, this.#revision);
      throw error;
    }
  }

  /**
   * Loads the cache, again when it ends meanwhile, and waits until it has the revision.
   * @throws ApiError 504 when it does not in time
   */
  async #reach(revision: number): Promise<void> {
    const { storage } = this.#options;
    const clock = realClock(this.#options.clock);
    const since = clock.now();
    for (;;) {
      if (this.#closed) return;
      if (!this.#loaded) await this.ready();
      if (this.#loaded && revision <= this.#revision) break;
      // Other servers may have written since the last event. If the store cannot be read, the wait fails.
      if (storage.isShared) storage.current().catch(() => {});
      const leftMs = since + freshWaitMs - clock.now();
      if (leftMs <= 0 || !(await this.#wait(revision, leftMs))) {
        this.counts.countWait((clock.now() - since) / 1000);
        throw resourceVersionTooLarge(revision, this.#revision);
      }
    }
    this.counts.countWait((clock.now() - since) / 1000);
  }

  /**
   * Waits until the cache reaches the revision, or ends.
   * @returns false when neither happens in time
   */
  #wait(revision: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (woken: boolean): void => {
        this.#waiters.delete(waiter);
        cancel();
        resolve(woken);
      };
      const waiter: Waiter = { revision, wake: () => finish(true) };
      const cancel = realClock(this.#options.clock).after(timeoutMs, () => finish(false));
      this.#waiters.add(waiter);
    });
  }

  #emptyTree(): IndexedTree {
    return IndexedTree.empty(this.#options.indexedFields);
  }
}

function listExpired(): ApiError {
  return expired("The resourceVersion for the provided list is too old.");
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ApiError && error.status.code === 504;
}
