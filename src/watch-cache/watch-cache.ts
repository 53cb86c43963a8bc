/**
 * The watch cache: current objects of one resource, and recent events. See docs/architecture.md,
 * "Watch cache". Sources: Kubernetes docs, API Concepts, "Resource versions" and "Efficient
 * detection of changes"; `k8s.io/apiserver@v0.36.0/pkg/storage/cacher/cacher.go`.
 */
import { realClock } from "../apimachinery/clock.ts";
import { ApiError, expired, resourceVersionTooLarge } from "../apimachinery/errors.ts";
import {
  type LogEvent,
  RevisionCompacted,
  RevisionInFuture,
  RevisionsWentBack,
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
import { readHistory } from "./history.ts";
import { HistoryWindow } from "./history-window.ts";
import { IndexedTree } from "./indexed-tree.ts";
import { defaults, type WatchCacheOptions } from "./options.ts";
import { Readers } from "./readers.ts";
import { RevisionWaits } from "./revision-waits.ts";
import { isTreeSnapshot, KeptSnapshots, snapshotOf, type TreeSnapshot } from "./snapshots.ts";
import { listExpired, StoredReads } from "./stored-reads.ts";
import { isReadFailure } from "./unreadable.ts";

/** How long a read waits for a revision that the cache has not reached. */
const freshWaitMs = 3000;
/**
 * Attempts to load old events while the cache drops others; each attempt only reads the events
 * dropped since.
 */
const reloadAttemptsMax = 10;
/** Cached and reloaded events together may use this multiple of `eventBytesMax`. */
const reloadedBytesFactor = 4;
/** Attempts to load the cache while compaction overtakes the read, or an older state is restored. */
const loadAttemptsMax = 3;

/** Creates a watch cache; it loads on first use. */
export function openWatchCache(options: WatchCacheOptions): WatchCache {
  return new StorageWatchCache(options);
}

class StorageWatchCache implements WatchCache {
  readonly counts: CacheCounts;
  readonly #options: Required<Omit<WatchCacheOptions, "initial">>;
  readonly #kept: KeptSnapshots;
  readonly #readers: Readers;
  readonly #waits: RevisionWaits;
  #tree: IndexedTree;
  /** The newest revision of a history that the store lost when an older state was restored. */
  #lost = 0;
  #snapshot: TreeSnapshot | undefined;
  /** What readers read. Undelivered events are applied to the tree; they become one batch in this turn. */
  readonly #feed: { ring: EventRing; revision: number; undelivered: CacheEvent[] };
  readonly #window: HistoryWindow;
  readonly #stored: StoredReads;
  /** Events or progress will be delivered in this turn. */
  #delivers = false;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #log: Subscription | undefined;
  #closed = false;

  constructor(options: WatchCacheOptions) {
    const { initial, ...others } = options;
    this.#options = { ...defaults, ...others };
    this.counts = new CacheCounts(this.#options.eventsMax);
    this.#kept = new KeptSnapshots(Math.min(this.#options.snapshotAgeMaxMs, this.#options.historyMs));
    this.#waits = new RevisionWaits(this.#options.clock);
    this.#feed = { ring: this.#emptyRing(0), revision: 0, undelivered: [] };
    this.#readers = new Readers(this.#feed, this.#options);
    this.#window = new HistoryWindow(this.#options);
    this.#stored = new StoredReads(this.#options, this.counts, {
      revision: () => this.#feed.revision,
      stateNear: (revision) => (this.#loaded ? this.#kept.closest(revision, this.latest()) : undefined),
      isBeforeWindow: (at) => this.#window.isBefore(at),
      keep: (snapshot) => this.keep(snapshot),
    });
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

  currentEntry(key: string): Promise<Entry | undefined> {
    return this.#reportsProgress ? this.#stored.checked(this.current(), key) : this.getFromStorage(key);
  }

  getFromStorage(key: string): Promise<Entry | undefined> {
    return this.#stored.get(key);
  }

  latest(): TreeSnapshot {
    this.#snapshot ??= snapshotOf(this.#tree, this.#feed.revision);
    return this.#snapshot;
  }

  async current(fallBack = (): void => {}): Promise<Snapshot> {
    if (this.#closed) return this.#stored.current(0);
    if (!this.#loaded) await this.ready();
    const { storage } = this.#options;
    const revision = await storage.current();
    try {
      return await this.#atLeast(revision, fallBack);
    } catch (error) {
      if (!storage.isShared || !isTooLarge(error)) throw error;
      fallBack(); // The connection that delivers changes is broken, but the store can be read.
      return this.#stored.behindCache(revision);
    }
  }

  notOlderThan(revision: number): Promise<Snapshot> {
    return this.#atLeast(revision, () => {});
  }

  async #atLeast(revision: number, fallBack: () => void): Promise<Snapshot> {
    if (!this.#reportsProgress && (await this.#isBehindStore(revision))) {
      fallBack();
      return this.#stored.behindCache(revision);
    }
    if (this.#loaded && revision <= this.#feed.revision) this.counts.countImmediateRead();
    else await this.#reach(revision);
    return this.#closed ? this.#stored.current(revision) : this.latest();
  }

  async exactly(revision: number): Promise<Snapshot> {
    if (!this.#reportsProgress && (await this.#isBehindStore(revision))) return this.#stored.queueAt(revision);
    if (!this.#loaded || revision > this.#feed.revision) await this.#reach(revision);
    if (this.#closed) return this.#stored.at(revision);
    if (this.#window.isForgotten(revision, this.#delivered())) throw listExpired();
    if (revision === this.#feed.revision) return this.latest();
    if (!this.#options.keepsSnapshots) return this.#stored.queueAt(revision);
    const snapshot =
      this.#kept.find(revision, this.#options.clock.now()) ??
      this.#rollBackTo(revision) ??
      (await this.#stored.queueAt(revision));
    this.keep(snapshot);
    return snapshot;
  }

  keep(snapshot: Snapshot): void {
    if (this.#options.keepsSnapshots && isTreeSnapshot(snapshot)) this.#kept.keep(snapshot, this.#options.clock.now());
  }

  listed({ revision }: Snapshot): void {
    this.#window.listed(revision);
  }

  forgetBefore(revision: number): void {
    this.#window.forgetBefore(revision);
    this.#kept.forgetBefore(revision);
  }

  async loadEventsAfter(revision: number): Promise<void> {
    if (this.#options.storage.isShared) await this.#checkExists(revision);
    const events: CacheEvent[] = [];
    let read = revision;
    for (let attempt = 1; attempt <= reloadAttemptsMax; attempt++) {
      if (!this.#loaded && !this.#closed) await this.ready();
      if (!this.#loaded) return; // `subscribe` ends the subscription.
      if (!this.#options.watchesCompacted && this.#window.isForgotten(revision, this.#delivered()))
        throw expired("The resourceVersion for the provided watch is too old.");
      if (this.#window.isExpired(revision, this.#delivered()))
        throw expired(
          `too old resource version: ${revision} (${this.#feed.ring.revisionAt(this.#options.clock.now() - this.#options.historyMs)})`,
        );
      const to = this.#feed.ring.from;
      if (revision >= to) return;
      if (!this.#reportsProgress) throw expired(`too old resource version: ${revision} (${to})`);
      if (read < to) {
        const bytesMax = this.#options.eventBytesMax * reloadedBytesFactor - this.#feed.ring.bytes - bytesOf(events);
        const more = await readHistory(this.#options, { after: read, to, bytesMax });
        if (more === undefined) return; // The store was closed, which ends every subscription.
        for (const event of more) events.push(event);
        read = to;
      }
      const { from } = this.#feed.ring;
      if (from > read) continue; // The ring has dropped more events.
      if (from <= revision) continue; // Another request has reloaded them.
      // Reloaded batches reuse numbers of dropped ones. Readers that still have such a number must
      // not continue there.
      this.#readers.loseDropped();
      const missing = from === read ? events : events.filter((event) => event.revision <= from);
      this.#feed.ring.addBefore(missing, revision, this.#options.clock.now());
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
    if (revision <= this.#feed.revision) return;
    const newest = await this.#options.storage.current();
    if (revision > newest) throw expired(`too old resource version: ${revision} (${newest})`);
  }

  subscribe(from: number, subscriber: CacheSubscriber, topic?: Topic): CacheSubscription {
    if (!this.#loaded) {
      setImmediate(() => this.#readers.notify(() => subscriber.end()));
      return { delivered: from, resume() {}, close() {} };
    }
    this.#deliver();
    if (from > this.#feed.revision && from <= this.#lost)
      throw expired(`too old resource version: ${from} (${this.#feed.revision})`);
    if (from < this.#feed.ring.from) throw expired(`too old resource version: ${from} (${this.#feed.ring.from})`);
    return this.#readers.add(from, subscriber, topic);
  }

  async check(): Promise<CacheDifference | undefined> {
    const log = this.#log;
    if (log === undefined) return undefined;
    const { storage, prefix } = this.#options;
    const newest = await storage.current(); // The state of an idle cache may have been compacted.
    if (this.#reportsProgress && newest > this.#feed.revision) await this.#waits.until(newest, freshWaitMs);
    if (this.#log !== log) return undefined;
    const difference = await findDifference(storage, prefix, this.latest());
    if (difference === undefined || this.#log !== log) return undefined; // It was loaded again meanwhile.
    this.#unload(this.#feed.revision);
    return difference;
  }

  followReadable(follower: ReadableFollower): Promise<CacheSubscription> {
    return followReadable(this.#options, follower);
  }

  close(): void {
    this.#closed = true;
    this.#unload();
  }

  /**
   * Ends all subscriptions. The next request loads the cache again.
   * @param listFrom set when the events so far are not those of the store, so that clients must list again: its revision
   */
  #unload(listFrom?: number): void {
    this.#log?.close();
    this.#log = undefined;
    this.#feed.undelivered = [];
    this.#loaded = false;
    this.#loading = undefined;
    this.#kept.clear();
    this.#feed.ring = this.#emptyRing(Number.POSITIVE_INFINITY);
    this.#readers.endAll(listFrom);
    this.#waits.reached(Number.POSITIVE_INFINITY);
  }

  #emptyRing(from: number): EventRing {
    const { eventsMax, eventBytesMax, eventAgeMaxMs } = this.#options;
    return new EventRing({ eventsMax, bytesMax: eventBytesMax, ageMaxMs: eventAgeMaxMs }, from);
  }

  async #load(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { tree, revision } = await this.#stored.all();
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
    this.#feed.revision = revision;
    this.#snapshot = undefined;
    this.#feed.ring = this.#emptyRing(revision);
    this.#window.start(revision);
    this.#loaded = true;
  }

  #ended(error: Error | undefined): void {
    if (error === undefined) return this.close();
    if (!(error instanceof RevisionsWentBack)) return this.#unload();
    this.#window.startOver();
    this.#lost = Math.max(this.#lost, this.#feed.revision);
    this.#unload(error.compactedRevision);
  }

  #applyAll(batch: readonly LogEvent[]): void {
    if (!this.#loaded) return;
    this.counts.received += batch.length;
    const before = this.#tree;
    try {
      for (const event of batch) this.#feed.undelivered.push(this.#apply(event));
    } catch (error) {
      if (!isReadFailure(error)) throw error;
      this.#tree = before; // The revision has not advanced.
      this.#unload(); // The next request loads the cache again, and gets the error.
      return;
    }
    this.#snapshot = undefined;
    this.#deliverSoon();
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
    if (revision <= this.#feed.revision) return;
    this.#feed.revision = revision;
    this.#snapshot = undefined;
    this.#waits.reached(revision);
    if (this.#readers.awaitProgress) this.#deliverSoon();
  }

  /** Delivers in this turn: when all caches have the changes of the group of commits, and before commits are answered. */
  #deliverSoon(): void {
    if (!this.#delivers) queueMicrotask(() => this.#deliver());
    this.#delivers = true;
  }

  /** Delivers all undelivered events to the subscribers. */
  #deliver(): void {
    this.#delivers = false;
    if (this.#feed.undelivered.length > 0) {
      const now = this.#options.clock.now();
      const events = this.#feed.undelivered;
      this.#feed.undelivered = [];
      this.counts.dispatched += events.length;
      this.#feed.ring.add(events, now);
      this.#kept.applied(events, now);
      this.#readers.publish(events);
    }
    this.#readers.pumpAll();
  }

  /** The ring with all events so far. */
  #delivered(): EventRing {
    this.#deliver();
    return this.#feed.ring;
  }

  /** Reverts events from the current state; undefined when the ring does not have all of them. */
  #rollBackTo(revision: number): TreeSnapshot | undefined {
    this.#deliver();
    if (revision < this.#feed.ring.from) return undefined;
    let tree = this.#tree;
    for (const { entry, previous } of this.#feed.ring.backTo(revision)) {
      tree = previous === undefined ? tree.delete(entry.key) : tree.set(previous);
    }
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
    if (revision <= this.#feed.revision) return false;
    const reached = this.#waits.until(revision, freshWaitMs).then((woken) => {
      if (!woken) throw resourceVersionTooLarge(revision, this.#feed.revision);
      return 0;
    });
    return revision <= (await Promise.race([this.#options.storage.current(), reached]));
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
      if (this.#loaded && revision <= this.#feed.revision) break;
      // Other servers may have written since the last event. If the store cannot be read, the wait fails.
      if (storage.isShared) storage.current().catch(() => {});
      const leftMs = since + freshWaitMs - clock.now();
      if (leftMs <= 0 || !(await this.#waits.until(revision, leftMs))) {
        this.counts.countWait((clock.now() - since) / 1000);
        throw resourceVersionTooLarge(revision, this.#feed.revision);
      }
    }
    this.counts.countWait((clock.now() - since) / 1000);
  }

  #emptyTree(): IndexedTree {
    return IndexedTree.empty(this.#options.indexedFields);
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ApiError && error.status.code === 504;
}
