/**
 * Follows the decodable objects of a resource when others cannot be decoded, for callers that must
 * work with a partial state.
 */
import type { LogSubscriber, Storage, Stored } from "../storage/contract.ts";
import type { CacheSubscription, Entry, ReadableFollower } from "./contract.ts";
import { isReadFailure } from "./unreadable.ts";

interface ReadableSource {
  readonly storage: Storage;
  readonly prefix: string;
  readonly entryOf: (stored: Stored) => Entry;
}

const page = 500;

/**
 * Reads all objects, then follows the store's log.
 * @throws RevisionCompacted when compaction overtakes the initial read
 */
export async function followReadable(
  { storage, prefix, entryOf }: ReadableSource,
  follower: ReadableFollower,
): Promise<CacheSubscription> {
  const setStored = (stored: Stored): void => {
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
      setStored(stored);
    }
    const last = range.entries.at(-1);
    if (!range.more || last === undefined) break;
    range = await storage.range(prefix, { after: last.key, limit: page, revision });
  }
  for (const key of [...follower.knownKeys()]) if (!keys.has(key)) follower.missing(key);
  let delivered = revision;
  const subscriber: LogSubscriber = {
    events(batch) {
      for (const event of batch) event.type === "delete" ? follower.missing(event.key) : setStored(event);
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
