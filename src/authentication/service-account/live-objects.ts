/** Whether what a token is bound to is still there, from the watch caches. Source: access-control §5.2; pkg/controller/serviceaccount's token getter. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";

export interface LiveObject {
  readonly uid: string;
  /** Milliseconds since 1970; undefined while nobody deletes it. */
  readonly deletedAt: number | undefined;
}

/** All of the core group; a node is in the namespace "". */
export interface LiveObjects {
  /** As the caches have it; undefined when it is not there. */
  find(resource: string, namespace: string, name: string): LiveObject | undefined;
  /** The whole object, the caller's. */
  read(resource: string, namespace: string, name: string): KubeObject | undefined;
  /** Resolves when the caches have seen all that was written before. */
  caughtUp(): Promise<void>;
}

const resources = ["serviceaccounts", "secrets", "pods", "nodes"] as const;

export function liveObjects(catalog: Catalog): LiveObjects {
  // Kept as long as the very entry is, so that a token used again and again costs a look at a tree.
  const known = new WeakMap<Entry, LiveObject>();
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
      let object = known.get(entry);
      if (object === undefined) {
        object = liveObject(store.decode(entry));
        known.set(entry, object);
      }
      return object;
    },
    async caughtUp() {
      await Promise.all(resources.map((resource) => storeOf(resource)?.cache.current()));
    },
  };
}

function liveObject({ metadata: { uid = "", deletionTimestamp } }: KubeObject): LiveObject {
  return { uid, deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
}
