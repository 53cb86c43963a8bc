/** Reads one object, also when other objects of its resource cannot be read. */
import { ApiError } from "../apimachinery/errors.ts";
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";
import type { Entry, WatchCache } from "../watch-cache/contract.ts";
import { UnreadableObjects } from "../watch-cache/unreadable.ts";

/**
 * The entry stored now, also when other objects of the resource cannot be read.
 * @throws ApiError 500 when the object itself cannot be read
 */
export function currentEntry(store: ResourceStore, key: string): Promise<Entry | undefined> {
  return store.cache.currentEntry(key).catch((error: unknown) => readAfterCacheFailure(error, store, key));
}

/** The entry stored now; undefined also when the object itself cannot be read. */
export async function readableEntry(store: ResourceStore, key: string): Promise<Entry | undefined> {
  try {
    return await currentEntry(store, key);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.code !== 500) throw error;
    return undefined;
  }
}

/**
 * The object stored now, see {@link currentEntry}.
 * @param namespace empty for cluster-scoped kinds
 * @returns undefined when the object does not exist, or its resource is not served
 * @throws ApiError 500 when the object cannot be read
 */
export async function currentObject(
  catalog: Pick<Catalog, "findResource">,
  { group, resource }: GroupResource,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> {
  const store = catalog.findResource(group, resource)?.store;
  const entry = store && (await currentEntry(store, store.keyOf(namespace, name)));
  return entry && store?.decode(entry);
}

/**
 * For requests of one object, after some objects of its resource could not be read: reads the
 * object from the store.
 * @throws ApiError 500 when the object is one of those; the error itself when it is another error
 */
export async function readAfterCacheFailure(
  error: unknown,
  { cache }: ResourceStore,
  key: string,
): Promise<Entry | undefined> {
  if (!(error instanceof UnreadableObjects)) throw error;
  const about = error.about(key);
  if (about !== undefined) throw about;
  return cache.getFromStorage(key);
}

/**
 * Reads the keys of all objects, after a cache could not be loaded because some of them cannot be read.
 * @throws the error itself when it is another error
 */
export async function keysWithUnreadable(error: unknown, cache: WatchCache): Promise<ReadonlySet<string>> {
  if (!(error instanceof UnreadableObjects)) throw error;
  const keys = new Set<string>();
  const follower = {
    set: ({ key }: Entry) => void keys.add(key),
    missing: (key: string) => void keys.add(key),
    knownKeys: () => [],
    end() {},
  };
  (await cache.followReadable(follower)).close();
  return keys;
}
