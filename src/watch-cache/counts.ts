/** What one cache has done since it was made, in plain numbers: counting costs nothing that could be measured, and whoever asks reads them. */

/** Upper bounds of the time that a read waited, in seconds. Source: upstream's apiserver_watch_cache_read_wait_seconds */
export const readWaitBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3] as const;

/** Lists that were found by one index, or by none. */
interface ListCounts {
  lists: number;
  /** Objects that were looked at. */
  fetched: number;
}

export class CacheCounts {
  /** Times that the objects were read from the store, to begin with or again. */
  loads = 0;
  /** Changes in the store's log. */
  received = 0;
  /** … that were handed to the subscribers, each once however many they are. */
  dispatched = 0;
  /** States read from the store, and the objects in them. */
  storedLists = 0;
  storedObjects = 0;
  /** Reads of stored objects that cannot be decoded, or are damaged. */
  decodeErrors = 0;
  /** Lists of the newest state, and those of them that could not have it. */
  consistentReads = 0;
  consistentFailures = 0;
  /** By the index that was used, such as `f:spec.nodeName`; empty for none. */
  readonly lists = new Map<string, ListCounts>();
  /** Objects that lists were answered with. */
  listed = 0;
  /** Reads that waited until the cache was new enough, by {@link readWaitBounds}, the last number for those beyond; how long they waited together. */
  readonly waits: number[] = [...readWaitBounds.map(() => 0), 0];
  waitedSeconds = 0;

  /** @param index that was used; empty for none */
  list(index: string, { fetched, returned }: { fetched: number; returned: number }): void {
    let counts = this.lists.get(index);
    if (counts === undefined) {
      counts = { lists: 0, fetched: 0 };
      this.lists.set(index, counts);
    }
    counts.lists += 1;
    counts.fetched += fetched;
    this.listed += returned;
  }

  waited(seconds: number): void {
    const found = readWaitBounds.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? readWaitBounds.length : found;
    this.waits[at] = (this.waits[at] as number) + 1;
    this.waitedSeconds += seconds;
  }

  /** A read that found it new enough. */
  atOnce(): void {
    this.waits[0] = (this.waits[0] as number) + 1;
  }
}
