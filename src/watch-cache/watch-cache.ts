/** Latest objects of one resource, and recent events. Source: architecture, "Watch cache"; resource-api §4.6, §4.7, §4.12. */
import { expired, timeout } from "../api/errors.ts";
import type { Clock } from "../api/clock.ts";
import { type LogEvent, RevisionCompacted, RevisionInFuture, type Storage, type Stored, type Subscription } from "../storage/contract.ts";
import type { CacheEvent, CacheSubscriber, CacheSubscription, Entry, Snapshot, WatchCache } from "./contract.ts";
import { deletedEntry } from "./entry.ts";
import { Tree } from "./tree.ts";

export interface WatchCacheOptions {
  readonly storage: Storage;
  /** Of the keys this cache holds. */
  readonly prefix: string;
  /** Makes the entry of a stored value. */
  readonly entryOf: (stored: Stored) => Entry;
  readonly clock: Clock;
  /** Events kept for watchers that come back; the oldest go beyond any of the three. */
  readonly eventsMax?: number;
  readonly eventBytesMax?: number;
  readonly eventAgeMaxMs?: number;
}

/** How long a read waits for a revision that this cache has not seen. */
const freshWaitMs = 3000;
const loadPage = 5000;
/** Rebuilt older states that are kept for the next chunk of a list. */
const rebuiltMax = 16;
const rebuiltAgeMaxMs = 75_000;

interface Past {
  readonly event: CacheEvent;
  readonly at: number;
}

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
}

export function openWatchCache(options: WatchCacheOptions): WatchCache {
  return new StorageWatchCache(options);
}

class StorageWatchCache implements WatchCache {
  readonly #options: Required<WatchCacheOptions>;
  #tree: Tree<Entry> = Tree.empty();
  #revision = 0;
  #snapshot: Snapshot | undefined;
  /** Events after `#eventsFrom`, oldest first; those before `#pastStart` are dropped. */
  #past: Past[] = [];
  #pastStart = 0;
  #pastBytes = 0;
  #eventsFrom = 0;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #log: Subscription | undefined;
  readonly #subscribers = new Set<{ subscriber: CacheSubscriber; from: number }>();
  readonly #waiters = new Set<Waiter>();
  readonly #rebuilt = new Map<number, { snapshot: Snapshot; at: number }>();
  #closed = false;

  constructor(options: WatchCacheOptions) {
    this.#options = { eventsMax: 100_000, eventBytesMax: 32 << 20, eventAgeMaxMs: 5 * 60_000, ...options };
  }

  ready(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  latest(): Snapshot {
    this.#snapshot ??= snapshotOf(this.#tree, this.#revision);
    return this.#snapshot;
  }

  async current(): Promise<Snapshot> {
    if (!this.#loaded) await this.ready();
    const revision = await this.#options.storage.current();
    return revision <= this.#revision ? this.latest() : this.notOlderThan(revision);
  }

  async notOlderThan(revision: number): Promise<Snapshot> {
    if (!this.#loaded) await this.ready();
    if (revision <= this.#revision) return this.latest();
    await this.#seen(revision);
    return this.latest();
  }

  async exactly(revision: number): Promise<Snapshot> {
    if (!this.#loaded) await this.ready();
    if (revision > this.#revision) await this.#seen(revision);
    if (revision === this.#revision) return this.latest();
    const known = this.#rebuilt.get(revision);
    if (known !== undefined && this.#options.clock.now() - known.at <= rebuiltAgeMaxMs) return known.snapshot;
    const snapshot = revision >= this.#eventsFrom ? snapshotOf(this.#undoneTo(revision), revision) : await this.#stored(revision);
    this.#rebuilt.delete(revision);
    this.#rebuilt.set(revision, { snapshot, at: this.#options.clock.now() });
    if (this.#rebuilt.size > rebuiltMax) this.#rebuilt.delete(this.#rebuilt.keys().next().value as number);
    return snapshot;
  }

  /** Missed events are delivered before this returns. */
  subscribe(from: number, subscriber: CacheSubscriber): CacheSubscription {
    if (from < this.#eventsFrom) throw expired(`too old resource version: ${from} (${this.#eventsFrom})`);
    const missed: CacheEvent[] = [];
    for (let at = this.#past.length - 1; at >= this.#pastStart; at--) {
      const { event } = this.#past[at] as Past;
      if (event.revision <= from) break;
      missed.push(event);
    }
    if (missed.length > 0) subscriber.events(missed.reverse());
    const subscription = { subscriber, from: Math.max(from, this.#revision) };
    this.#subscribers.add(subscription);
    return { close: () => void this.#subscribers.delete(subscription) };
  }

  close(): void {
    this.#closed = true;
    this.#log?.close();
    for (const { subscriber } of this.#subscribers) subscriber.end();
    this.#subscribers.clear();
    for (const { wake } of this.#waiters) wake();
  }

  async #load(): Promise<void> {
    const { storage, prefix, entryOf } = this.#options;
    const entries: [string, Entry][] = [];
    let page = await storage.range(prefix, { limit: loadPage });
    const { revision } = page;
    for (;;) {
      for (const stored of page.entries) entries.push([stored.key, entryOf(stored)]);
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) break;
      page = await storage.range(prefix, { after: last.key, limit: loadPage, revision });
    }
    this.#tree = Tree.fromSorted(entries);
    this.#revision = revision;
    this.#eventsFrom = revision;
    this.#snapshot = undefined;
    this.#loaded = true;
    this.#log = storage.log(prefix, revision, {
      events: (batch) => this.#take(batch),
      progress: (seen) => this.#progress(seen),
      end: () => this.close(),
    });
  }

  #take(batch: readonly LogEvent[]): void {
    const events = batch.map((event) => this.#applyEvent(event));
    const at = this.#options.clock.now();
    for (const event of events) {
      this.#past.push({ event, at });
      this.#pastBytes += event.entry.json.length;
    }
    this.#revision = (events.at(-1) as CacheEvent).revision;
    this.#snapshot = undefined;
    this.#forget(at);
    for (const { subscriber, from } of this.#subscribers) {
      subscriber.events(from < (events[0] as CacheEvent).revision ? events : events.filter(({ revision }) => revision > from));
    }
  }

  #applyEvent({ type, key, revision, value, seal }: LogEvent): CacheEvent {
    const previous = this.#tree.get(key);
    if (type === "delete") {
      this.#tree = this.#tree.delete(key);
      const last = previous ?? this.#options.entryOf({ key, revision, value, ...(seal && { seal }) });
      return { type: "DELETED", revision, entry: deletedEntry(last, revision), previous };
    }
    const entry = this.#options.entryOf({ key, revision, value, ...(seal && { seal }) });
    this.#tree = this.#tree.set(key, entry);
    return { type: previous === undefined ? "ADDED" : "MODIFIED", revision, entry, previous };
  }

  #progress(revision: number): void {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#snapshot = undefined;
    }
    for (const { subscriber } of this.#subscribers) subscriber.progress(this.#revision);
    for (const waiter of this.#waiters) if (waiter.revision <= this.#revision) waiter.wake();
  }

  #forget(now: number): void {
    const { eventsMax, eventBytesMax, eventAgeMaxMs } = this.#options;
    while (this.#pastStart < this.#past.length) {
      const { event, at } = this.#past[this.#pastStart] as Past;
      const within = this.#past.length - this.#pastStart <= eventsMax && this.#pastBytes <= eventBytesMax && now - at <= eventAgeMaxMs;
      if (within || event.revision === this.#revision) break;
      this.#pastBytes -= event.entry.json.length;
      this.#eventsFrom = event.revision;
      this.#pastStart++;
    }
    if (this.#pastStart < 1024 || this.#pastStart * 2 < this.#past.length) return;
    this.#past = this.#past.slice(this.#pastStart);
    this.#pastStart = 0;
  }

  /** The present tree with later events taken back. */
  #undoneTo(revision: number): Tree<Entry> {
    let tree = this.#tree;
    for (let at = this.#past.length - 1; at >= this.#pastStart; at--) {
      const { event } = this.#past[at] as Past;
      if (event.revision <= revision) break;
      tree = event.previous === undefined ? tree.delete(event.entry.key) : tree.set(event.entry.key, event.previous);
    }
    return tree;
  }

  /** A state older than the events kept, read from the store's history. */
  async #stored(revision: number): Promise<Snapshot> {
    const { storage, prefix, entryOf } = this.#options;
    try {
      const { entries } = await storage.range(prefix, { revision });
      return snapshotOf(Tree.fromSorted(entries.map((stored) => [stored.key, entryOf(stored)] as const)), revision);
    } catch (error) {
      if (error instanceof RevisionCompacted) throw expired("The resourceVersion for the provided list is too old.");
      if (error instanceof RevisionInFuture) throw this.#tooLarge(revision);
      throw error;
    }
  }

  #seen(revision: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        this.#waiters.delete(waiter);
        cancel();
        if (this.#revision >= revision) resolve();
        else reject(this.#tooLarge(revision));
      };
      const waiter: Waiter = { revision, wake: finish };
      const cancel = this.#options.clock.after(freshWaitMs, finish);
      if (this.#closed) finish();
      else this.#waiters.add(waiter);
    });
  }

  #tooLarge(revision: number): Error {
    return timeout(`Too large resource version: ${revision}, current: ${this.#revision}`, 1, [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }]);
  }
}

function snapshotOf(tree: Tree<Entry>, revision: number): Snapshot {
  return {
    revision,
    size: tree.size,
    get: (key) => tree.get(key),
    range: (prefix, after) => tree.values(after === undefined ? prefix : `${after}\0`, `${prefix}\uffff`),
    count: (prefix) => tree.rank(`${prefix}\uffff`) - tree.rank(prefix),
  };
}
