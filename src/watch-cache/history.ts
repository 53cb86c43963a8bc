/** Events that the cache has let go, or that happened before it was loaded, read from the store's log. */
import { expired } from "../apimachinery/errors.ts";
import { type LogEvent, RevisionCompacted, type Storage, type Stored } from "../storage/contract.ts";
import type { CacheEvent, Entry } from "./contract.ts";
import { deletedEntry } from "./entry.ts";
import { isReadFailure } from "./unreadable.ts";

export interface HistorySource {
  readonly storage: Storage;
  readonly prefix: string;
  readonly entryOf: (stored: Stored) => Entry;
}

export interface HistoryRange {
  readonly after: number;
  /** The last revision wanted. */
  readonly to: number;
  readonly bytesMax: number;
}

/** Events that are made before others run. */
const atOnceMax = 1000;

/** @returns undefined when the store ended before. @throws ApiError 410 when the store has let them go too, or they are too many */
export async function readHistory(source: HistorySource, range: HistoryRange): Promise<CacheEvent[] | undefined> {
  try {
    const log = await readLog(source, range);
    return log && (await eventsOf(log, source, range));
  } catch (error) {
    if (error instanceof RevisionCompacted)
      throw expired(`too old resource version: ${range.after} (${error.compactedRevision})`);
    // A state that cannot be read cannot be shown; those after it can.
    if (isReadFailure(error)) throw expired(`too old resource version: ${range.after} (${range.to})`);
    throw error;
  }
}

/**
 * When the state at the revision was superseded, in milliseconds since 1970.
 * @param range `to`: the newest revision that is asked about
 * @returns undefined when it was not, or the store ended before. @throws RevisionCompacted
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
  /** The state before the first event of each key; undefined where there was none, or the store did not have it at hand. */
  readonly before: Map<string, Stored | undefined>;
}

/** What the store logged between the two revisions. */
function readLog({ storage, prefix }: HistorySource, { after, to, bytesMax }: HistoryRange): Promise<Log | undefined> {
  return new Promise((resolve, reject) => {
    const found: Log = { events: [], before: new Map() };
    let bytes = 0;
    const take = (event: LogEvent): void => {
      found.events.push(event);
      bytes += event.value.length;
      // Now: the store may drop it as soon as the event is delivered.
      if (!found.before.has(event.key)) found.before.set(event.key, event.previous?.());
    };
    const log = storage.log(prefix, after, {
      events(batch) {
        for (const event of batch) {
          if (event.revision > to) return finish(found);
          take(event);
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

/** Adds to each event the state before it: that of the event before on the same key, or of the store where there is none. */
async function eventsOf(log: Log, { storage, entryOf }: HistorySource, { after }: HistoryRange): Promise<CacheEvent[]> {
  const states = new Map<string, Entry | undefined>();
  const events: CacheEvent[] = [];
  for (const [index, event] of log.events.entries()) {
    if (index % atOnceMax === atOnceMax - 1) await new Promise((resolve) => setImmediate(resolve));
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
