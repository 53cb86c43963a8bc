/**
 * The watch cache of one resource: current objects in key order, snapshots, and recent events. See
 * docs/architecture.md, "Watch cache".
 */

import type { ApiError } from "../apimachinery/errors.ts";
import type { NodeFilter } from "../lib/persistent-tree/tree.ts";
import type { CacheCounts } from "./counts.ts";

/** An object as it is served. Immutable; shared by the cache, lists and watchers. */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  /**
   * JSON in the storage version, with resourceVersion, without a newline. Its ArrayBuffer contains
   * `line` and nothing else.
   */
  readonly json: Buffer;
  /** The same bytes with a newline: the body of a response to a get. */
  readonly line: Buffer;
  /**
   * Byte offset after `"kind":…,"apiVersion":…,`. An item of a built-in list is `{` and the bytes
   * from here.
   */
  readonly itemOffset: number;
  /** The fields that selectors need; decoded on first use. */
  readonly index: EntryIndex;
}

/** The parts of an object that selectors use. */
export interface EntryIndex {
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** metadata.name, metadata.namespace and the selectable fields of the kind. */
  readonly fields: ReadonlyMap<string, string>;
  /** The hash of metadata.uid for shard selectors. */
  readonly uidHash: bigint;
}

/** A change of one object. */
export interface CacheEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  /** Time of the commit in milliseconds since 1970. */
  readonly at: number;
  /** For DELETED, the last state with the revision of the deletion. */
  readonly entry: Entry;
  /**
   * The previous state, from which watches with selectors derive event types. Undefined for ADDED.
   */
  readonly previous: Entry | undefined;
}

/**
 * An immutable state of the cache. Creating a snapshot is free; keeping one uses memory for what
 * has changed since.
 */
export interface Snapshot {
  readonly revision: number;
  /** Number of entries. */
  readonly size: number;
  /**
   * The same object in snapshots with the same entries, so that callers can keep what they derive
   * from them.
   */
  readonly identity: object;
  get(key: string): Entry | undefined;
  /** Iterates over the entries with the prefix, in key order, after the key `after` if set. */
  range(prefix: string, after?: string): IterableIterator<Entry>;
  /**
   * As `range`, for entries whose field has the value, by an index; undefined when the cache has no
   * index of the field.
   */
  find(field: string, value: string, prefix: string, after?: string): IterableIterator<Entry> | undefined;
  /**
   * As `range`, for the entries that pass the filter, of all keys without a prefix, in pieces between which callers can
   * serve others. Snapshots with a common history share what was searched.
   */
  matching(filter: EntryFilter, prefix?: string, after?: string): IterableIterator<readonly Entry[]>;
  /** Counts the entries with the prefix, after the key `after` if set. */
  count(prefix: string, after?: string): number;
}

/** An object that a cache does not have as the store has it at the same state. */
export interface CacheDifference {
  readonly key: string;
  /** The revisions of the object; 0 where it is absent. */
  readonly cached: number;
  readonly stored: number;
}

/** A filter of entries that is used for many snapshots. Its test must depend on the entry only. */
export type EntryFilter = NodeFilter<Entry>;

/** The contract of a watch cache. It loads the objects on first use. */
export interface WatchCache {
  /** Counters for metrics. Callers that list report the entries they read. */
  readonly counts: CacheCounts;
  /** Whether `latest` has the objects. */
  readonly isLoaded: boolean;
  /**
   * Loads the objects; must be called before `latest` and `subscribe`. `current`, `notOlderThan`,
   * `exactly` and `loadEventsAfter` call it.
   * @throws ApiError 500 when objects cannot be decoded · StorageUnavailable
   */
  ready(): Promise<void>;
  /**
   * Returns the state of one object at least as new as that of the store at the time of the call.
   * @throws ApiError 504 as `notOlderThan`; 500 when objects cannot be decoded · StorageUnavailable
   */
  currentEntry(key: string): Promise<Entry | undefined>;
  /**
   * Reads one object from storage, for use when the cache cannot be loaded because other objects
   * cannot be decoded.
   * @throws ApiError 500 when the object cannot be decoded · StorageUnavailable
   */
  getFromStorage(key: string): Promise<Entry | undefined>;
  /** Returns the newest state of this cache; may lag behind a remote store. */
  latest(): Snapshot;
  /**
   * Returns a state at least as new as that of the store at the time of the call.
   * @param fallBack is called before the state is read from the store, because the cache is behind
   * @throws ApiError 504 as `notOlderThan`; 500 as `ready` · StorageUnavailable
   */
  current(fallBack?: () => void): Promise<Snapshot>;
  /**
   * Returns a state at least as new as the revision; waits for it for a bounded time.
   * @throws ApiError 504 with cause ResourceVersionTooLarge when the cache does not reach it in
   * time; 500 as `ready` · StorageUnavailable
   */
  notOlderThan(revision: number): Promise<Snapshot>;
  /**
   * Returns the state at the revision, from a cached snapshot, recent events or the store.
   * @throws ApiError 410 when it was made, and last listed, before the history window, or was compacted
   * @throws ApiError 429 when too many reads of old states are waiting
   * @throws ApiError 504, 500 as `notOlderThan` · StorageUnavailable
   */
  exactly(revision: number): Promise<Snapshot>;
  /** Reports that a client receives the newest state, which `exactly` then returns for the history window at least. */
  listed(snapshot: Snapshot): void;
  /** Caches a snapshot for some time, for a later call of `exactly`: the next chunk of a list. */
  keep(snapshot: Snapshot): void;
  /**
   * Ensures that `subscribe` can start at the revision; reads events from the store's history if
   * needed.
   * @throws ApiError 410 when the state at the revision was superseded before the history window,
   * later changes were compacted, or a shared store does not have the revision; also where `exactly` does, for
   * resources that upstream does not cache
   * @throws ApiError 500 as `ready` · StorageUnavailable
   */
  loadEventsAfter(revision: number): Promise<void>;
  /**
   * Subscribes to events after the revision, in order. Past events are delivered before this method
   * returns, later ones soon after their commit. Of a cache that is not loaded, the subscription ends in
   * the next turn.
   * @param topic limits the subscription; events outside the topic may still be delivered, but
   *   mostly cost no time
   * @throws ApiError 410 when the cache does not have all events after the revision
   */
  subscribe(from: number, subscriber: CacheSubscriber, topic?: Topic): CacheSubscription;
  /**
   * Compares the loaded objects with the store. If they differ, the subscriptions end with 410, and
   * the next request loads the cache again.
   * @returns the first difference; undefined when there is none, or the cache is not loaded
   * @throws RevisionCompacted · RevisionInFuture · StorageUnavailable
   */
  check(): Promise<CacheDifference | undefined>;
  /**
   * Reports that the store was compacted to the revision: `exactly` rejects earlier revisions from
   * now on. Cached events are not affected.
   */
  forgetBefore(revision: number): void;
  /**
   * Follows the objects that can be decoded, when the cache cannot be loaded because of others.
   * @throws RevisionCompacted when compaction overtakes the initial read · StorageUnavailable
   */
  followReadable(follower: ReadableFollower): Promise<CacheSubscription>;
  /** Ends all subscriptions, and lets reads that wait for a revision go on. */
  close(): void;
}

/**
 * The events of one object (by its key), of one namespace (by the prefix of its keys, with the
 * final slash), or of objects with a field value before or after the event. Possible fields are
 * `metadata.name` and those that the cache indexes.
 */
export type Topic =
  | { readonly key: string }
  | { readonly prefix: string }
  | { readonly field: string; readonly value: string };

/**
 * Receives events. All subscribers of a topic receive the same array object, so that an encoder can
 * reuse its work.
 */
export interface CacheSubscriber {
  /**
   * @returns false to pause until `resume`; events are stored for as long as those of other
   * subscribers
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most subscribers return nothing.
  events(batch: readonly CacheEvent[]): boolean | void;
  /** Reports that all events up to the revision have been delivered. */
  progress?(revision: number): void;
  /**
   * Reports the end: the cache was reloaded or closed, or dropped events that a paused subscriber
   * needs.
   * @param error 410 when an older state of the store was restored, or the cache had missed changes: clients must list
   *   again
   */
  end(error?: ApiError): void;
  /**
   * Reports instead of `end` that `events` or `progress` has thrown, which ends the subscription. Without it, `end` is
   * called.
   */
  failed?(error: unknown): void;
}

/** A subscription of a watch cache. */
export interface CacheSubscription {
  /** All events up to this revision have been delivered. Never decreases. */
  readonly delivered: number;
  /** Delivers the events since `events` returned false. */
  resume(): void;
  /** Ends the subscription; the subscriber is not called again. */
  close(): void;
}

/** Receives the objects of a cache that cannot be loaded: see {@link WatchCache.followReadable}. */
export interface ReadableFollower {
  /** Called with the current state of an object. */
  set(entry: Entry): void;
  /** Called when an object does not exist, or cannot be decoded. */
  missing(key: string): void;
  /** Returns the keys of the objects that were set before. */
  knownKeys(): Iterable<string>;
  /** Called when the store was closed, or compaction has overtaken the follower. */
  end(): void;
}
