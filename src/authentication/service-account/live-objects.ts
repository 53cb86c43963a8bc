/**
 * Reads the objects that tokens are bound to from the watch caches.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/controller/serviceaccount/tokengetter.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";

/** The part of an object that token checks need. */
export interface LiveObject {
  readonly uid: string;
  /** The deletionTimestamp in milliseconds since 1970; undefined without one. */
  readonly deletedAt: number | undefined;
}

/** Objects of the core group. The namespace of nodes is empty. */
export interface LiveObjects {
  /** Finds an object in the watch cache. */
  find(resource: string, namespace: string, name: string): LiveObject | undefined;
  /** Decodes an object of the watch cache. The result belongs to the caller. */
  read(resource: string, namespace: string, name: string): KubeObject | undefined;
  /** Resolves when the watch caches contain all earlier writes. */
  waitUntilCurrent(): Promise<void>;
}

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
