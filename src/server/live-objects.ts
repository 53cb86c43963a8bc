/** Reads the objects that tokens are bound to from the watch caches. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { LiveObject, LiveObjects } from "../authentication/service-account/live-objects.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";

const resources = ["serviceaccounts", "secrets", "pods", "nodes"] as const;

/** @returns access to the watch caches of the catalog */
export function liveObjects(catalog: Catalog): LiveObjects {
  // Cached as long as the entry exists, so that repeated use of a token does not decode the object.
  const byEntry = new WeakMap<Entry, LiveObject>();
  const storeOf = (resource: string): ResourceStore | undefined => catalog.findResource("", resource)?.store;
  const entryOf = (store: ResourceStore, namespace: string, name: string): Entry | undefined =>
    store.cache.latest().get(store.keyOf(namespace, name));
  const read: LiveObjects["read"] = (resource, namespace, name) => {
    const store = storeOf(resource);
    const entry = store && entryOf(store, namespace, name);
    return entry && store?.decode(entry);
  };
  return {
    read,
    find(resource, namespace, name) {
      const store = storeOf(resource);
      const entry = store && entryOf(store, namespace, name);
      if (store === undefined || entry === undefined) return undefined;
      let object = byEntry.get(entry);
      if (object === undefined) {
        object = liveObject(store.decode(entry));
        byEntry.set(entry, object);
      }
      return object;
    },
    async waitUntilCurrent() {
      await Promise.all(resources.map((resource) => storeOf(resource)?.cache.current()));
    },
  };
}

function liveObject({ metadata: { uid = "", deletionTimestamp } }: KubeObject): LiveObject {
  return { uid, deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
}
