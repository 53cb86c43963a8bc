/** Counters of one watch cache, for metrics. Counting adds no measurable time. */

/**
 * Upper bounds of the wait time of reads, in seconds. Source: upstream's metric
 * apiserver_watch_cache_read_wait_seconds.
 */
export const readWaitBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3] as const;

interface Outcomes {
  succeeded: number;
  failed: number;
}

/** Consistent lists by the source of their state: the store is read when the cache is behind. */
type ConsistentReads = Readonly<Record<"cache" | "store", Outcomes>>;

/** Lists that used one index, or none. */
interface ListCounts {
  lists: number;
  /** Objects that were read. */
  fetched: number;
}

/** The counters of one watch cache. */
export class CacheCounts {
  /** The most events that the cache keeps. */
  readonly capacity: number;
  /** Times that the cache was loaded from the store. */
  loads = 0;
  /** Events received from the store's log. */
  received = 0;
  /** Events dispatched to subscribers, each counted once. */
  dispatched = 0;
  /** States read from the store, and the objects in them. */
  storedLists = 0;
  storedObjects = 0;
  /** Stored objects that could not be decoded, or are damaged. */
  decodeErrors = 0;
  /** Consistent lists, from this cache and from the store. */
  readonly consistentReads: ConsistentReads = {
    cache: { succeeded: 0, failed: 0 },
    store: { succeeded: 0, failed: 0 },
  };
  /** Open watches of a shard, and all that were started. */
  shardWatches = 0;
  shardWatchesStarted = 0;
  /** Objects and states in events that watches excluded by their shard. */
  excludedByShard = 0;
  /** By the index that was used, such as `f:spec.nodeName`; empty for none. */
  readonly lists = new Map<string, ListCounts>();
  /** Objects that lists returned. */
  listed = 0;
  /**
   * Reads that waited for a revision, by {@link readWaitBounds}; the last number is for longer
   * waits.
   */
  readonly waits: number[] = [...readWaitBounds.map(() => 0), 0];
  /** Total wait time of reads. */
  waitedSeconds = 0;
  /** Comparisons with the store, by their result. */
  readonly checks = { success: 0, failure: 0, error: 0 };

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Counts a list. @param index the index that was used; empty for none */
  countList(index: string, { fetched, returned }: { fetched: number; returned: number }): void {
    let counts = this.lists.get(index);
    if (counts === undefined) {
      counts = { lists: 0, fetched: 0 };
      this.lists.set(index, counts);
    }
    counts.lists += 1;
    counts.fetched += fetched;
    this.listed += returned;
  }

  /** Counts a read that waited. */
  countWait(seconds: number): void {
    const found = readWaitBounds.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? readWaitBounds.length : found;
    this.waits[at] = (this.waits[at] as number) + 1;
    this.waitedSeconds += seconds;
  }

  /** Counts a read that did not have to wait. */
  countImmediateRead(): void {
    this.waits[0] = (this.waits[0] as number) + 1;
  }

  /**
   * Counts an open watch of a shard.
   * @returns a function to call once at its end
   */
  startShardWatch(): () => void {
    this.shardWatches += 1;
    this.shardWatchesStarted += 1;
    return () => {
      this.shardWatches -= 1;
    };
  }
}
