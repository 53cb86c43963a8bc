/** Follows the objects of one cache: lists them, then takes their changes, and lists again whenever it was overtaken or could not read them. */
import type { Clock } from "../apimachinery/clock.ts";
import type { CacheEvent, CacheSubscription, Entry, WatchCache } from "./contract.ts";
import { UnreadableObjects } from "./unreadable.ts";

export interface Follower {
  /** Resolves when the first list was read, or could not be. */
  readonly tried: Promise<void>;
  /** All changes up to here were told; undefined while the list is being read. */
  readonly seen: number | undefined;
  stop(): void;
}

export interface FollowOptions {
  readonly cache: WatchCache;
  /** Of the keys that are followed. */
  readonly prefix: string;
  readonly clock: Clock;
  /** The object is so now. */
  set(entry: Entry): void;
  /** @param entry the object's last state */
  gone(entry: Entry): void;
  /** Keys with the prefix of objects that were told of and are not gone, as far as the reader knows. */
  known(): Iterable<string>;
  /** The object is gone; its deletion was missed. */
  missing(key: string): void;
  /** The list had to be read again, be it that it could not be read the first time. */
  relisted?(): void;
  /** The list could not be read. It is read again after a while, unless `skipsUnreadable`. */
  failed(error: unknown): void;
  /** Goes on with the objects that can be read, where others cannot; these are missing. */
  readonly skipsUnreadable?: true;
}

/** How long until a list that could not be read, or was overtaken, is read again. */
const relistMs = 1_000;
/** Objects read before others may run. */
const pieceMax = 1_000;

export function followCache(options: FollowOptions): Follower {
  const { cache, prefix, clock } = options;
  let subscription: CacheSubscription | undefined;
  let stopped = false;
  let tries = 0;
  let cancel = (): void => {};

  const list = async (): Promise<void> => {
    const isFirst = tries++ === 0;
    try {
      await cache.ready();
    } catch (error) {
      if (!options.skipsUnreadable || !(error instanceof UnreadableObjects)) throw error;
      options.failed(error);
      subscription = await cache.followReadable({ ...options, end: again });
      if (stopped) subscription.close();
      return;
    }
    const snapshot = cache.latest();
    let read = 0;
    for (const entry of snapshot.range(prefix)) {
      options.set(entry);
      if (++read % pieceMax === 0) await new Promise(setImmediate);
      if (stopped) return;
    }
    if (!isFirst) for (const key of options.known()) if (snapshot.get(key) === undefined) options.missing(key);
    subscription = cache.subscribe(snapshot.revision, { events: take, end: again });
    if (!isFirst) options.relisted?.();
  };
  const take = (batch: readonly CacheEvent[]): void => {
    for (const { type, entry } of batch) {
      if (type === "DELETED") options.gone(entry);
      else options.set(entry);
    }
  };
  const again = (): void => {
    subscription = undefined;
    if (!stopped) cancel = clock.after(relistMs, () => void start());
  };
  const start = (): Promise<void> =>
    list().catch((error: unknown) => {
      if (stopped) return;
      options.failed(error);
      again();
    });

  return {
    tried: start(),
    get seen() {
      return subscription?.delivered;
    },
    stop() {
      stopped = true;
      cancel();
      subscription?.close();
    },
  };
}
