/** The webhook configurations and policies that clients have created, compiled. */
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";
import type { Entry, Snapshot } from "../watch-cache/contract.ts";

/** A list that follows the objects of one kind, or several such lists. */
export interface Configurations<T> {
  /** Whether `current` can be called: the watch cache is loaded, or the kind is not served. */
  isLoaded(): boolean;
  /** Waits until the watch cache is loaded. */
  load(): Promise<void>;
  /**
   * Returns the compiled objects, sorted by name: those that were stored before the call. Empty
   * before the watch cache is loaded.
   */
  current(): readonly T[];
}

/**
 * Follows the objects of a kind of admissionregistration.k8s.io.
 *
 * @see followObjects
 */
export function followConfigurations<T>(
  catalog: Pick<Catalog, "findResource" | "generation">,
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
  catalog: Pick<Catalog, "findResource" | "generation">,
  { group, resource }: GroupResource,
  compile: (object: KubeObject) => T,
  removed: (compiled: T) => void = () => {},
): Configurations<T> {
  let store: ResourceStore | undefined;
  let generation = -1;
  let compiled = new Map<Entry, T>();
  let list: readonly T[] = [];
  let identity: object | undefined;
  let isReady = false;
  /** Most requests find what the request before them found, so this must not allocate. */
  const storeNow = (): ResourceStore | undefined => {
    if (generation === catalog.generation) return store;
    store = catalog.findResource(group, resource)?.store;
    generation = catalog.generation;
    return store;
  };
  const compileAll = ({ form, decode }: ResourceStore, snapshot: Snapshot): readonly T[] => {
    const entries = [...snapshot.range(form.prefix)];
    const next = new Map(entries.map((entry) => [entry, compiled.get(entry) ?? compile(decode(entry))]));
    for (const [entry, one] of compiled) if (!next.has(entry)) removed(one);
    [compiled, list, identity] = [next, [...next.values()], snapshot.identity];
    return list;
  };
  return {
    isLoaded: () => isReady || storeNow() === undefined,
    async load() {
      const loading = storeNow()?.cache.ready();
      if (loading === undefined) return;
      await loading;
      isReady = true;
    },
    current() {
      const found = isReady ? storeNow() : undefined;
      if (found === undefined) return [];
      const snapshot = found.cache.latest();
      return snapshot.identity === identity ? list : compileAll(found, snapshot);
    },
  };
}

/** A list that is in memory. @param current returns the same list until it changes */
export function inMemory<T>(current: () => readonly T[]): Configurations<T> {
  return { isLoaded: () => true, load: async () => {}, current };
}

/** Combines two lists. The result is the same list until one of them changes. */
export function combined<A, B, T>(
  one: Configurations<A>,
  other: Configurations<B>,
  combine: (ones: readonly A[], others: readonly B[]) => readonly T[],
): Configurations<T> {
  let seenOnes: readonly A[] | undefined;
  let seenOthers: readonly B[] | undefined;
  let list: readonly T[] = [];
  return {
    isLoaded: () => one.isLoaded() && other.isLoaded(),
    async load() {
      await Promise.all([one.load(), other.load()]);
    },
    current() {
      const ones = one.current();
      const others = other.current();
      if (ones !== seenOnes || others !== seenOthers) list = combine(ones, others);
      seenOnes = ones;
      seenOthers = others;
      return list;
    },
  };
}
