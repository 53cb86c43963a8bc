/** The webhook configurations and policies that clients have created, compiled. */
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import type { Catalog } from "../catalog/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";

/** Follows the objects of one kind. */
export interface Configurations<T> {
  /**
   * Returns the compiled objects, sorted by name: those that were stored before the call. A promise
   * only until the watch cache is loaded.
   */
  current(): readonly T[] | Promise<readonly T[]>;
}

/**
 * Follows the objects of a kind of admissionregistration.k8s.io.
 *
 * @see followObjects
 */
export function followConfigurations<T>(
  catalog: Pick<Catalog, "findResource">,
  resource: string,
  compile: (object: KubeObject) => T,
  removed?: (compiled: T) => void,
): Configurations<T> {
  return followObjects(catalog, { group: "admissionregistration.k8s.io", resource }, compile, removed);
}

/**
 * Follows the objects of a cluster-scoped kind. Each stored version of an object is compiled once,
 * when the first request needs it.
 *
 * @param compile may throw; the request then fails
 * @param removed called with what is no longer used
 */
export function followObjects<T>(
  catalog: Pick<Catalog, "findResource">,
  { group, resource }: GroupResource,
  compile: (object: KubeObject) => T,
  removed: (compiled: T) => void = () => {},
): Configurations<T> {
  let compiled = new Map<Entry, T>();
  let list: readonly T[] = [];
  let identity: object | undefined;
  let isReady = false;
  const store = () => catalog.findResource(group, resource)?.store;
  const current = (): readonly T[] => {
    const found = store();
    if (found === undefined) return [];
    const snapshot = found.cache.latest();
    if (snapshot.identity === identity) return list;
    const entries = [...snapshot.range(found.form.prefix)];
    const next = new Map(entries.map((entry) => [entry, compiled.get(entry) ?? compile(found.decode(entry))]));
    for (const [entry, one] of compiled) if (!next.has(entry)) removed(one);
    [compiled, list, identity] = [next, [...next.values()], snapshot.identity];
    return list;
  };
  return {
    current() {
      if (isReady) return current();
      const loading = store()?.cache.ready();
      if (loading === undefined) return [];
      return loading.then(() => {
        isReady = true;
        return current();
      });
    },
  };
}
