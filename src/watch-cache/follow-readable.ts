/** Follows the objects of a cache that can be read, where others cannot: for readers that must go on with those there are. */
import type { LogSubscriber, Storage, Stored } from "../storage/contract.ts";
import type { CacheSubscription, Entry } from "./contract.ts";
import { isReadFailure } from "./unreadable.ts";

export interface ReadableSource {
  readonly storage: Storage;
  readonly prefix: string;
  readonly entryOf: (stored: Stored) => Entry;
}

export interface ReadableFollower {
  /** The object is so now. */
  set(entry: Entry): void;
  /** There is no such object, or it cannot be read. */
  missing(key: string): void;
  /** Keys of objects that were set before, which are missing unless they are set again. */
  known(): Iterable<string>;
  /** The store was closed, or the reader was overtaken. */
  end(): void;
}

const page = 500;

/** Reads all objects, then takes their changes from the store's log. @throws RevisionCompacted when writes overtake the reading */
export async function followReadable(
  { storage, prefix, entryOf }: ReadableSource,
  follower: ReadableFollower,
): Promise<CacheSubscription> {
  const take = (stored: Stored): void => {
    let entry: Entry;
    try {
      entry = entryOf(stored);
    } catch (error) {
      if (!isReadFailure(error)) throw error;
      return follower.missing(stored.key);
    }
    follower.set(entry);
  };
  const keys = new Set<string>();
  let range = await storage.range(prefix, { limit: page });
  const { revision } = range;
  for (;;) {
    for (const stored of range.entries) {
      keys.add(stored.key);
      take(stored);
    }
    const last = range.entries.at(-1);
    if (!range.more || last === undefined) break;
    range = await storage.range(prefix, { after: last.key, limit: page, revision });
  }
  for (const key of [...follower.known()]) if (!keys.has(key)) follower.missing(key);
  let delivered = revision;
  const subscriber: LogSubscriber = {
    events(batch) {
      for (const event of batch) event.type === "delete" ? follower.missing(event.key) : take(event);
    },
    progress(seen) {
      delivered = seen;
    },
    end: () => follower.end(),
  };
  const log = storage.log(prefix, revision, subscriber);
  return {
    get delivered() {
      return delivered;
    },
    resume() {},
    close: () => log.close(),
  };
}
