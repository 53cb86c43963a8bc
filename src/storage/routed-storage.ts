/** Stores the objects of some resources elsewhere. Source: `--etcd-servers-overrides` of kube-apiserver. */
import { isDerived } from "./check-writes.ts";
import type { Check, Committed, Conflict, DerivedWrite, Storage, Write } from "./contract.ts";

/** A store for the keys with a prefix. */
export interface Route {
  readonly prefix: string;
  readonly storage: Storage;
}

/** A store that consists of several. Its revisions and health are those of the main one. */
export interface RoutedStorage extends Storage {
  /** The store that has the keys with the prefix. */
  forPrefix(prefix: string): Storage;
  /** The main store, and that of each route in their order. */
  readonly clusters: readonly Storage[];
}

export function isRouted(storage: Storage): storage is RoutedStorage {
  return "forPrefix" in storage;
}

/** The stores of a store, for metrics and health checks: the main one is the first. */
export function clustersOf(storage: Storage): readonly Storage[] {
  return isRouted(storage) ? storage.clusters : [storage];
}

export function routeStorage(main: Storage, routes: readonly Route[]): RoutedStorage {
  const stores = [main, ...new Set(routes.map(({ storage }) => storage))];
  const storeOf = (key: string): Storage => routes.findLast(({ prefix }) => key.startsWith(prefix))?.storage ?? main;
  return {
    isShared: main.isShared,
    get reportsProgress() {
      return main.reportsProgress;
    },
    keyChange: (key) => storeOf(key).keyChange?.(key),
    forPrefix: storeOf,
    clusters: [main, ...routes.map(({ storage }) => storage)],
    get: (key, revision) => storeOf(key).get(key, revision),
    range: (prefix, options) => storeOf(prefix).range(prefix, options),
    count: (prefix) => storeOf(prefix).count(prefix),
    log: (prefix, from, subscriber) => storeOf(prefix).log(prefix, from, subscriber),
    commit: (checks, writes) => commitRouted(main, storeOf, { checks, writes }),
    compact: (revision) => main.compact(revision),
    checkReadable: () => main.checkReadable(),
    checkWritable: () => main.checkWritable(),
    current: () => main.current(),
    compacted: () => main.compacted(),
    sizeBytes: () => main.sizeBytes(),
    pin: () => main.pin(),
    stopWaiting() {
      for (const storage of stores) storage.stopWaiting?.();
    },
    close: async () => void (await Promise.all(stores.map((storage) => storage.close()))),
  };
}

/**
 * Writes and checks of several stores cannot share a transaction. Checks of other stores are made right before the
 * commit, such as that of a lease for the Event of its leader. Writes that only count others, such as the
 * charge of a quota, are committed first: their controllers correct them if the other commit fails.
 */
async function commitRouted(
  main: Storage,
  storeOf: (key: string) => Storage,
  { checks, writes }: { checks: readonly Check[]; writes: readonly (Write | DerivedWrite)[] },
): Promise<Committed | Conflict> {
  const key = writes.find((write) => !isDerived(write))?.key ?? writes[0]?.key ?? checks[0]?.key;
  const target = key === undefined ? main : storeOf(key);
  const failed = await checkElsewhere(
    storeOf,
    checks.filter((check) => storeOf(check.key) !== target),
  );
  if (failed !== undefined) return failed;
  const own = checks.filter((check) => storeOf(check.key) === target);
  const elsewhere = writes.filter((write) => storeOf(write.key) !== target);
  if (elsewhere.length === 0) return target.commit(own, writes);
  for (const write of elsewhere) {
    if (!isDerived(write)) throw new Error(`${write.key} is not in the store of ${key}`);
    await storeOf(write.key).commit([], [write]);
  }
  return target.commit(
    own,
    writes.filter((write) => storeOf(write.key) === target),
  );
}

/** @returns the first check that does not hold */
async function checkElsewhere(
  storeOf: (key: string) => Storage,
  checks: readonly Check[],
): Promise<Conflict | undefined> {
  for (const { key, revision } of checks) {
    const current = await storeOf(key).get(key);
    if ((current?.revision ?? 0) !== revision) return { ok: false, key, current };
  }
  return undefined;
}
