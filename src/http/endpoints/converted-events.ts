/** Watch events converted by a webhook: once for all watchers of a version. */
import type { ConvertedVersion } from "../../catalog/contract.ts";
import type { CacheEvent, Entry } from "../../watch-cache/contract.ts";
import { deletedEntry } from "../../watch-cache/entry.ts";

type Batch = readonly CacheEvent[];

/**
 * By version, then by the batch as the cache delivers it; kept as long as the cache keeps the
 * batch.
 */
type ConvertedBatches = WeakMap<ConvertedVersion, WeakMap<Batch, Batch | Promise<Batch>>>;
const withoutPrevious: ConvertedBatches = new WeakMap();
const allStates: ConvertedBatches = new WeakMap();

interface ConvertedEventsOptions {
  /** Whether previous states are needed, too, because the watch has a selector. */
  readonly previous: boolean;
}

/**
 * @returns the batch at the version, shared by all watchers; a promise only if the webhook must be
 *   called
 * @throws ApiError 500
 */
export function convertedEvents(
  version: ConvertedVersion,
  batch: Batch,
  { previous }: ConvertedEventsOptions,
): Batch | Promise<Batch> {
  const batches = previous ? allStates : withoutPrevious;
  let own = batches.get(version);
  if (own === undefined) {
    own = new WeakMap();
    batches.set(version, own);
  }
  const converted = own.get(batch) ?? convert(version, batch, previous);
  own.set(batch, converted);
  if (converted instanceof Promise) converted.catch(() => own.delete(batch));
  return converted;
}

function convert(version: ConvertedVersion, batch: Batch, withPrevious: boolean): Batch | Promise<Batch> {
  const entries = batch.map(latest);
  if (withPrevious) for (const { previous } of batch) if (previous !== undefined) entries.push(previous);
  const shown = version.show(entries);
  return shown instanceof Promise ? shown.then((converted) => eventsOf(batch, entries, converted)) : batch;
}

/** The last state of a deleted object is usually converted already. */
function latest({ type, entry, previous }: CacheEvent): Entry {
  return type === "DELETED" && previous !== undefined ? previous : entry;
}

function eventsOf(batch: Batch, entries: readonly Entry[], shown: readonly Entry[]): Batch {
  const byEntry = new Map(entries.map((entry, index) => [entry, shown[index] as Entry]));
  return batch.map((event) => {
    const { type, revision, previous } = event;
    const converted = byEntry.get(latest(event)) as Entry;
    const entry = type === "DELETED" ? deletedEntry(converted, revision) : converted;
    return { ...event, entry, previous: previous && byEntry.get(previous) };
  });
}
