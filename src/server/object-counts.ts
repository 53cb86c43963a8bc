/**
 * The number of stored objects of each resource, for metrics. Source: `startObservingCount` in
 * `k8s.io/apiserver@v0.36.0/pkg/registry/generic/registry/store.go`.
 */
import { realClock } from "../apimachinery/clock.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import { repeat } from "../apimachinery/repeat.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";
import type { Storage } from "../storage/contract.ts";
import { clustersOf, isRouted } from "../storage/routed-storage.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";

/** @returns the numbers at the time of the last poll, or newer ones; -1 if the store could not be read */
export type ObjectCounts = () => (readonly [GroupResource, number])[];

interface Needs {
  readonly catalog: Pick<Catalog, "definitions" | "findResource">;
  readonly storage: Storage;
  /** When it resolves, the objects are counted for the first time. */
  readonly started: Promise<void>;
  readonly closers: Closers;
}

/** Loaded watch caches have the numbers; the store counts other objects. */
export function countObjects(
  { clock, objectCountPollMs: periodMs }: Pick<ServerOptions, "clock" | "objectCountPollMs">,
  { catalog, storage, started, closers }: Needs,
): ObjectCounts {
  if (periodMs === 0) return () => [];
  const storeOf = (prefix: string): Storage => (isRouted(storage) ? storage.forPrefix(prefix) : storage);
  const unreadable = new Set<Storage>();
  const counted = new Map<string, number>();
  const poll = async (): Promise<void> => {
    await Promise.all([...new Set(clustersOf(storage))].map((cluster) => checkCluster(cluster, unreadable)));
    for (const { cache, form } of storesByName(catalog).values()) {
      const cluster = storeOf(form.prefix);
      if (cache.isLoaded || unreadable.has(cluster)) continue;
      counted.set(form.prefix, await cluster.count(form.prefix).catch(() => -1));
    }
  };
  let isPolling = false;
  const start = (): void => {
    if (isPolling) return;
    isPolling = true;
    void poll().finally(() => {
      isPolling = false;
    });
  };
  void started.then(start);
  closers.add(repeat(realClock(clock), periodMs, start));
  return () =>
    [...storesByName(catalog)].flatMap(([name, { cache, form }]) => {
      const known = cache.isLoaded ? cache.latest().size : counted.get(form.prefix);
      const count = unreadable.has(storeOf(form.prefix)) ? -1 : known;
      return count === undefined ? [] : [[name, count] as const];
    });
}

async function checkCluster(cluster: Storage, unreadable: Set<Storage>): Promise<void> {
  try {
    await cluster.current();
    unreadable.delete(cluster);
  } catch {
    unreadable.add(cluster); // The metric shows it.
  }
}

/** The served resources, each once: all Events are stored as those of the core group. */
function storesByName(catalog: Needs["catalog"]): Map<GroupResource, ResourceStore> {
  const stores = new Map<GroupResource, ResourceStore>();
  const prefixes = new Set<string>();
  for (const { group, resource, storage: form } of catalog.definitions()) {
    const store = form && catalog.findResource(group, resource)?.store;
    if (store === undefined || prefixes.has(store.form.prefix)) continue;
    prefixes.add(store.form.prefix);
    stores.set({ group: store.form.group, resource }, store);
  }
  return stores;
}
