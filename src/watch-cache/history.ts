/** Reads events that the cache has dropped, or that precede its load, from the store's log. */
import { expired } from "../apimachinery/errors.ts";
import { type LogEvent, RevisionCompacted, type Storage, type Stored } from "../storage/contract.ts";
import type { CacheEvent, Entry } from "./contract.ts";
import { deletedEntry } from "./entry.ts";
import { isReadFailure } from "./unreadable.ts";

interface HistorySource {
  readonly storage: Storage;
  readonly prefix: string;
  readonly entryOf: (stored: Stored) => Entry;
}

interface HistoryRange {
  readonly after: number;
  /** The last revision of the range. */
  readonly to: number;
  readonly bytesMax: number;
}

/** Events that are decoded before the event loop serves others. */
const pieceMax = 1000;

/**
 * Reads the events of a range of revisions.
 * @returns undefined when the store was closed
 * @throws ApiError 410 when the events were compacted, cannot be decoded, or exceed `bytesMax`
 */
export async function readHistory(source: HistorySource, range: HistoryRange): Promise<CacheEvent[] | undefined> {
  try {
    const log = await readLog(source, range);
    return log && (await eventsOf(log, source, range));
  } catch (error) {
    if (error instanceof RevisionCompacted)
      throw expired(`too old resource version: ${range.after} (${error.compactedRevision})`);
    // The client must list again: later states may be decodable.
    if (isReadFailure(error)) throw expired(`too old resource version: ${range.after} (${range.to})`);
    throw error;
  }
}

/**
 * Reads when the state at the revision `after` was superseded.
 * @returns milliseconds since 1970; undefined when it is still current at the revision `to`, or the
 *   store was closed
 * @throws RevisionCompacted
 */
export function supersededAt(
  { storage, prefix }: HistorySource,
  { after, to }: Omit<HistoryRange, "bytesMax">,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const log = storage.log(prefix, after, {
      events: ([first]) => finish(first !== undefined && first.revision <= to ? first.at : undefined),
      progress(revision) {
        if (revision >= to) finish(undefined);
      },
      end: (error) => (error === undefined ? resolve(undefined) : reject(error)),
    });
    const finish = (at: number | undefined): void => {
      log.close();
      resolve(at);
    };
  });
}

interface Log {
  readonly events: LogEvent[];
  /**
   * The state before the first event of each key; undefined when there was none, or the event did
   * not include it.
   */
  readonly before: Map<string, Stored | undefined>;
}

/** Reads the store's log between the two revisions. */
function readLog({ storage, prefix }: HistorySource, { after, to, bytesMax }: HistoryRange): Promise<Log | undefined> {
  return new Promise((resolve, reject) => {
    const found: Log = { events: [], before: new Map() };
    let bytes = 0;
    const add = (event: LogEvent): void => {
      found.events.push(event);
      bytes += event.value.length;
      // Must be read here: the store may drop the state after the delivery.
      if (!found.before.has(event.key)) found.before.set(event.key, event.previous?.());
    };
    const log = storage.log(prefix, after, {
      events(batch) {
        for (const event of batch) {
          if (event.revision > to) return finish(found);
          add(event);
        }
        if (bytes > bytesMax) {
          log.close();
          reject(expired(`too old resource version: ${after} (${to})`));
        }
      },
      progress(revision) {
        if (revision >= to) finish(found);
      },
      end: (error) => (error === undefined ? resolve(undefined) : reject(error)),
    });
    const finish = (whole: Log): void => {
      log.close();
      resolve(whole);
    };
  });
}

/**
 * Adds the previous state to each event: that of the previous event of the key, or that of the
 * store before the first one.
 */
async function eventsOf(log: Log, { storage, entryOf }: HistorySource, { after }: HistoryRange): Promise<CacheEvent[]> {
  const states = new Map<string, Entry | undefined>();
  const events: CacheEvent[] = [];
  for (const [index, event] of log.events.entries()) {
    if (index % pieceMax === pieceMax - 1) await new Promise((resolve) => setImmediate(resolve));
    const { type, key, revision, at } = event;
    if (!states.has(key)) {
      const before =
        event.previousRevision === 0 ? undefined : (log.before.get(key) ?? (await storage.get(key, after)));
      states.set(key, before && entryOf(before));
    }
    const previous = states.get(key);
    const entry = type === "delete" && previous !== undefined ? previous : entryOf(event);
    if (type === "delete") {
      events.push({ type: "DELETED", revision, at, entry: deletedEntry(entry, revision), previous });
      states.set(key, undefined);
    } else {
      events.push({ type: previous === undefined ? "ADDED" : "MODIFIED", revision, at, entry, previous });
      states.set(key, entry);
    }
  }
  return events;
}
