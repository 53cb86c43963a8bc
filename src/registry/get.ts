/** Reads one object. */
import { notFound, resourceVersionTooLarge } from "../apimachinery/errors.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resource, ResourceStore } from "../catalog/contract.ts";
import type { Entry, Snapshot } from "../watch-cache/contract.ts";
import { currentEntry, readAfterCacheFailure } from "./current-entry.ts";
import { parseResourceVersion } from "./list-options.ts";
import { storedResource } from "./resource-names.ts";

/**
 * Checks that the current state has the revision. A resource without a watch cache is not waited
 * for.
 * @throws ApiError 504
 */
export function checkReached(current: Snapshot, resourceVersion: string, revision: number): Snapshot {
  if (revision > current.revision)
    throw resourceVersionTooLarge(resourceVersion, current.revision, { retryAfterSeconds: 0 });
  return current;
}

interface GetRequest {
  readonly namespace: string;
  readonly name: string;
  /** As sent: empty for the current state, `0` for any state, otherwise a minimum. */
  readonly resourceVersion: string;
}

/**
 * Reads one object.
 * @throws ApiError 404; 504 when the resourceVersion is not reached in time; when it is not a
 *   number, 500, or 400 for kinds without a cache (as upstream)
 */
export async function getEntry(resource: Resource, { namespace, name, resourceVersion }: GetRequest): Promise<Entry> {
  const store = storeOf(resource);
  const key = store.keyOf(namespace, name);
  const entry =
    resourceVersion === ""
      ? await currentEntry(store, key)
      : await stateFor(store, resourceVersion).then(
          (snapshot) => snapshot.get(key),
          (error: unknown) => readAfterCacheFailure(error, store, key),
        );
  if (entry === undefined) throw notFound(storedResource(resource), name);
  return entry;
}

async function stateFor({ cache, uncached }: ResourceStore, resourceVersion: string): Promise<Snapshot> {
  const revision = parseResourceVersion(resourceVersion, uncached ? "list" : "get");
  if (uncached) return checkReached(await cache.current(), resourceVersion, revision);
  await cache.ready();
  if (revision === Number.POSITIVE_INFINITY) throw resourceVersionTooLarge(resourceVersion, cache.latest().revision);
  return revision === 0 ? cache.latest() : cache.notOlderThan(revision);
}
