/** Latest objects of one resource in key order, frozen snapshots of them, and recent events. Source: architecture, "Watch cache". */

import type { CacheCounts } from "./counts.ts";
import type { ReadableFollower } from "./follow-readable.ts";

/** One object as it is served. Immutable; shared by the cache, lists and watchers. */
export interface Entry {
  readonly key: string;
  readonly revision: number;
  /** JSON in the storage version with resourceVersion in place, no newline at the end. Exactly allocated. */
  readonly json: Buffer;
  /** The same bytes and a newline: the whole answer to a get. */
  readonly line: Buffer;
  /** Offset of what follows `"kind":…,"apiVersion":…,`: a list item of a built-in is `{` and the bytes from here. */
  readonly itemOffset: number;
  /** What selectors need, read from the bytes when first asked for. */
  readonly index: EntryIndex;
}

export interface EntryIndex {
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** metadata.name, metadata.namespace and the kind's own. */
  readonly fields: ReadonlyMap<string, string>;
}

export interface CacheEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  /** Milliseconds since 1970 when it happened. */
  readonly at: number;
  /** For DELETED: the last state, carrying the deletion's revision. */
  readonly entry: Entry;
  /** The state before, for selector transitions. Undefined for ADDED. */
  readonly previous: Entry | undefined;
}

/** A frozen state: taking one costs nothing, keeping one costs what has changed since. */
export interface Snapshot {
  readonly revision: number;
  readonly size: number;
  get(key: string): Entry | undefined;
  /** Entries in key order whose key starts with the prefix, after `after` when given. */
  range(prefix: string, after?: string): IterableIterator<Entry>;
  /** Those of a range whose field has the value, without a look at the others; undefined where the cache has no index of the field. */
  find(field: string, value: string, prefix: string, after?: string): IterableIterator<Entry> | undefined;
  /** How many entries have the prefix, and come after `after` when given. */
  count(prefix: string, after?: string): number;
}

export interface WatchCache {
  /** For metrics. Whoever lists tells it what he looked at. */
  readonly counts: CacheCounts;
  /** Loaded on first use. Every other call waits for it or may only follow it. */
  ready(): Promise<void>;
  /** One object, from the store: where others of its kind cannot be read there is no state to look into. @throws ApiError 500 when it cannot be read */
  alone(key: string): Promise<Entry | undefined>;
  /** The newest state this cache has; may lag behind a remote store. */
  latest(): Snapshot;
  /** A state at least as new as the store is now. */
  current(): Promise<Snapshot>;
  /** A state at least as new as the revision. @throws ApiError 504 with cause ResourceVersionTooLarge when it does not come in time */
  notOlderThan(revision: number): Promise<Snapshot>;
  /**
   * The state at exactly this revision, from kept snapshots, recent events or the store.
   * @throws ApiError 410 when it was superseded longer ago than the history window, or is not kept any more; 504
   */
  exactly(revision: number): Promise<Snapshot>;
  /** Keeps a snapshot for a while, for readers who will ask for exactly its revision: the next chunk of a list. */
  keep(snapshot: Snapshot): void;
  /**
   * Makes sure that `subscribe` can start at the revision, from the store's history where needed.
   * @throws ApiError 410 when the state there was superseded longer ago than the history window, or the changes since are not kept
   */
  reach(revision: number): Promise<void>;
  /**
   * Events after the revision, in order, those already there first; these are delivered before this returns, later ones soon after they happened.
   * @param topic what the subscriber wants at most: events outside it cost him nothing, though some of them may still be delivered
   * @throws ApiError 410 when the revision is older than the events kept
   */
  subscribe(from: number, subscriber: CacheSubscriber, topic?: Topic): CacheSubscription;
  /** The store was compacted to the revision: states before it are not shown any more. Events of open and new watches stay as long as they would. */
  forgetBefore(revision: number): void;
  /** Follows the objects that can be read, where the cache cannot be loaded because of others. @throws RevisionCompacted when writes overtake it */
  followReadable(follower: ReadableFollower): Promise<CacheSubscription>;
  close(): void;
}

/**
 * Events of one object (by its key), of one namespace (by the prefix of its keys, slash included), or of the objects a field of which has one
 * value, before the event or after it: `metadata.name`, and the fields that the cache has an index of.
 */
export type Topic =
  | { readonly key: string }
  | { readonly prefix: string }
  | { readonly field: string; readonly value: string };

/** Batches are shared by all subscribers of a topic: the same array object, so that work done for one can be reused for the next. */
export interface CacheSubscriber {
  /** @returns false to get no more before `resume`; events are kept meanwhile as long as those of others are */
  // biome-ignore lint/suspicious/noConfusingVoidType: most subscribers never pause, and say nothing.
  events(batch: readonly CacheEvent[]): boolean | void;
  /** Everything up to the revision has been delivered. */
  progress?(revision: number): void;
  /** Cut off: the cache was rebuilt or closed, or the events a paused subscriber waits for are gone. */
  end(): void;
}

export interface CacheSubscription {
  /** Everything up to here has been delivered. */
  readonly delivered: number;
  /** Delivers what was held back since `events` answered false. */
  resume(): void;
  close(): void;
}
