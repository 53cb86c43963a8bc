/**
 * Follows the objects of one cache, as an informer does: lists them, then watches. Lists again when
 * the watch ends or the list fails.
 */
import { type Clock, realClock } from "../apimachinery/clock.ts";
import type { CacheEvent, CacheSubscription, Entry, Snapshot, WatchCache } from "./contract.ts";
import { UnreadableObjects } from "./unreadable.ts";

/** A running follower. */
export interface Follower {
  /** Resolves when the first list was processed, or has failed. */
  readonly firstListDone: Promise<void>;
  /** All changes up to this revision were reported; undefined during a list. */
  readonly delivered: number | undefined;
  /** Stops the follower; no callback is called afterwards. */
  stop(): void;
}

/** The cache, and the callbacks of a follower. */
export interface FollowOptions {
  readonly cache: WatchCache;
  /** Prefix of the keys to follow. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Called with the current state of an object. */
  set(entry: Entry): void;
  /** Called when an object was deleted. @param entry its last state */
  deleted(entry: Entry): void;
  /**
   * Returns the objects of the first list that `set` needs, in pieces between which the event loop serves others; all
   * objects by default. Later lists set all.
   */
  first?(snapshot: Snapshot): Iterable<readonly Entry[]>;
  /** Returns the keys of the objects that were set and not deleted. */
  knownKeys(): Iterable<string>;
  /** Called when a new list lacks an object whose deletion was not observed. */
  missing(key: string): void;
  /** Called after each list except the first. */
  relisted?(): void;
  /**
   * Called when a list failed. If objects cannot be decoded, the others are followed, and those are
   * reported as missing, as deleted ones are; after other errors, the list is repeated.
   */
  failed(error: unknown): void;
}

/** Delay before a list is repeated; doubled for each further failure of the callbacks. */
const relistMs = 1_000;
const relistMsMax = 60_000;
/** Objects of a piece, and pieces that are processed before the event loop serves others. */
const [pieceMax, piecesMax] = [64, 16];

/** Starts to follow the objects of a cache. */
export function followCache(options: FollowOptions): Follower {
  const { cache, prefix, clock } = options;
  let subscription: CacheSubscription | undefined;
  let stopped = false;
  let tries = 0;
  /** Consecutive errors of the callbacks. */
  let failures = 0;
  let cancel = (): void => {};

  const list = async (): Promise<void> => {
    const isFirst = tries++ === 0;
    try {
      await cache.ready();
    } catch (error) {
      if (!(error instanceof UnreadableObjects)) throw error;
      options.failed(error);
      subscription = await cache.followReadable({ ...options, end: retry });
      if (stopped) subscription.close();
      return;
    }
    const snapshot = cache.latest();
    const all = (isFirst && options.first?.(snapshot)) || pieces(snapshot.range(prefix));
    if (!(await setAll(all, options, () => stopped))) return;
    if (!isFirst) for (const key of options.knownKeys()) if (snapshot.get(key) === undefined) options.missing(key);
    subscription = cache.subscribe(snapshot.revision, {
      events(batch) {
        applyEvents(batch, options);
        failures = 0;
      },
      end: retry,
      failed(error) {
        options.failed(error);
        failures++;
        retry();
      },
    });
    if (!isFirst) options.relisted?.();
  };
  const retry = (): void => {
    subscription = undefined;
    if (stopped) return;
    cancel = realClock(clock).after(Math.min(relistMs * 2 ** failures, relistMsMax), () => void start());
  };
  const start = (): Promise<void> =>
    list().catch((error: unknown) => {
      if (stopped) return;
      options.failed(error);
      if (cache.isLoaded) failures++; // A store that cannot be read is tried again soon.
      retry();
    });

  return {
    firstListDone: start(),
    get delivered() {
      return subscription?.delivered;
    },
    stop() {
      stopped = true;
      cancel();
      subscription?.close();
    },
  };
}

/** Sets entries, with other work in between. @returns false when it was stopped before the end */
async function setAll(
  all: Iterable<readonly Entry[]>,
  { set }: FollowOptions,
  isStopped: () => boolean,
): Promise<boolean> {
  let read = 0;
  for (const piece of all) {
    for (const entry of piece) set(entry);
    if (++read % piecesMax === 0) await new Promise(setImmediate);
    if (isStopped()) return false;
  }
  return true;
}

function applyEvents(batch: readonly CacheEvent[], { deleted, set }: FollowOptions): void {
  for (const { type, entry } of batch) {
    if (type === "DELETED") deleted(entry);
    else set(entry);
  }
}

function* pieces(entries: Iterable<Entry>): Generator<readonly Entry[], void> {
  let piece: Entry[] = [];
  for (const entry of entries) {
    if (piece.push(entry) < pieceMax) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}
