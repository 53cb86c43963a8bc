/** Events of objects that somebody else converts: made once for all watchers of a version. */
import type { ConvertedVersion } from "../../catalog/contract.ts";
import type { CacheEvent, Entry } from "../../watch-cache/contract.ts";
import { deletedEntry } from "../../watch-cache/entry.ts";

type Batch = readonly CacheEvent[];

/** By version, then by the batch as the cache delivers it; each is kept for as long as the cache keeps its batch. */
type Known = WeakMap<ConvertedVersion, WeakMap<Batch, Batch | Promise<Batch>>>;
const knownAlone: Known = new WeakMap();
const knownWithPrevious: Known = new WeakMap();

export interface ConvertedEventsOptions {
  /** Whether the states before are needed, too: by who selects. */
  readonly previous: boolean;
}

/** @returns the batch as the version has it, the same for each who asks; a promise only where somebody must be asked @throws ApiError 500 */
export function convertedEvents(
  version: ConvertedVersion,
  batch: Batch,
  { previous }: ConvertedEventsOptions,
): Batch | Promise<Batch> {
  const known = previous ? knownWithPrevious : knownAlone;
  let own = known.get(version);
  if (own === undefined) {
    own = new WeakMap();
    known.set(version, own);
  }
  const made = own.get(batch) ?? convert(version, batch, previous);
  own.set(batch, made);
  if (made instanceof Promise) made.catch(() => own.delete(batch));
  return made;
}

function convert(version: ConvertedVersion, batch: Batch, withPrevious: boolean): Batch | Promise<Batch> {
  const entries = batch.map(latest);
  if (withPrevious) for (const { previous } of batch) if (previous !== undefined) entries.push(previous);
  const shown = version.show(entries);
  return shown instanceof Promise ? shown.then((made) => eventsOf(batch, entries, made)) : batch;
}

/** What a deleted object was last is known already, as a rule. */
function latest({ type, entry, previous }: CacheEvent): Entry {
  return type === "DELETED" && previous !== undefined ? previous : entry;
}

function eventsOf(batch: Batch, entries: readonly Entry[], shown: readonly Entry[]): Batch {
  const byEntry = new Map(entries.map((entry, index) => [entry, shown[index] as Entry]));
  return batch.map((event) => {
    const { type, revision, previous } = event;
    const made = byEntry.get(latest(event)) as Entry;
    const entry = type === "DELETED" ? deletedEntry(made, revision) : made;
    return { ...event, entry, previous: previous && byEntry.get(previous) };
  });
}
