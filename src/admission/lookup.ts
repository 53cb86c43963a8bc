/**
 * Finds objects that plugins need for many writes, as upstream's plugins use informers with a live
 * read when those lack the object.
 */
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import { currentEntry } from "../registry/current-entry.ts";
import type { Entry } from "../watch-cache/contract.ts";

/**
 * Checks a name as upstream's client does before it reads an object that the informer lacks. Source:
 * `Name` in k8s.io/client-go@v0.36.0/rest/request.go.
 *
 * @returns why no object can have the name
 */
export function unreadableName(name: string): string | undefined {
  if (name === "") return "resource name may not be empty";
  const problems = pathSegmentNameProblems(name, false);
  return problems.length === 0 ? undefined : `invalid resource name ${quoteGo(name)}: [${problems.join(" ")}]`;
}

/** Finds what plugins need to know of the objects of one resource. */
export interface Lookup<T> {
  /**
   * Finds an object that was stored before the call, in the watch cache or, if that lacks it, in
   * the store.
   *
   * @param namespace empty for cluster-scoped kinds
   * @returns undefined if the object does not exist
   */
  find(namespace: string, name: string): Promise<T | undefined>;
}

/**
 * @param derive is called once for each stored version of an object that is found, and must not
 *   keep the object
 */
export function lookUp<T extends object>(
  catalog: Pick<Catalog, "findResource">,
  { group, resource }: GroupResource,
  derive: (object: KubeObject) => T,
): Lookup<T> {
  // Kept as long as the entry, so that repeated use of an object does not decode it.
  const derived = new WeakMap<Entry, T>();
  let ready: ResourceStore | undefined;
  const derivedFrom = (store: ResourceStore, entry: Entry): T => {
    const known = derived.get(entry);
    if (known !== undefined) return known;
    const value = derive(store.decode(entry));
    derived.set(entry, value);
    return value;
  };
  const findCurrent = async (namespace: string, name: string): Promise<T | undefined> => {
    const store = catalog.findResource(group, resource)?.store;
    if (store === undefined) return undefined;
    const entry = await currentEntry(store, store.keyOf(namespace, name));
    ready = store;
    return entry && derivedFrom(store, entry);
  };
  return {
    async find(namespace, name) {
      const entry = ready?.cache.latest().get(ready.keyOf(namespace, name));
      return entry === undefined ? findCurrent(namespace, name) : derivedFrom(ready as ResourceStore, entry);
    },
  };
}
