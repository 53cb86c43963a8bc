/**
 * Removes servers that do not exist from StorageVersions, and StorageVersions without servers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controller/storageversiongc/gc_controller.go`.
 */

import { realClock } from "../../apimachinery/clock.ts";
import { identityLabel, identityNamespace } from "../../apimachinery/server-identity.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { deleteOne, update } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { writesAs } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import { findStorageVersions, reportsStorageVersions, type StorageVersions, serversOf, setServers } from "./status.ts";

const writes = writesAs("storage-version-garbage-collector");
/** There are about 70 StorageVersions. Those that a full queue rejects are added later. */
const keysMax = 10_000;
const retryMs = 1_000;

/** Creates the controller; without effect if one of the kinds is not served, or a gate is off. */
export function storageVersionCollector(options: ControllerOptions): Controller {
  const { catalog } = options.registry;
  const place = findStorageVersions(catalog);
  const leases = catalog.findServed("coordination.k8s.io", "v1", "leases")?.resource.store;
  if (place === undefined || leases === undefined || !reportsStorageVersions(options.registry))
    return { start() {}, stop: async () => {} };
  return collector(options, place, leases);
}

function collector(
  { registry, logger, queues }: ControllerOptions,
  place: StorageVersions,
  leases: ResourceStore,
): Controller {
  const { store } = place;
  const known = new Set<string>();
  const queue = openWorkQueue({
    registry,
    observer: queues?.("storage_version_garbage_collector_storageversions"),
    reconcile: (key, deciding) => collect(deciding, place, leases, key),
    failed: (key, error) => logger.warn("Failed to clean a storage version, retrying", { key, error: String(error) }),
    concurrency: 1,
    keysMax,
  });
  let cancelRetry: (() => void) | undefined;
  const enqueueAll = (): void => {
    cancelRetry = undefined;
    for (const key of known) enqueue(key);
  };
  const enqueue = (key: string): void => {
    if (!queue.add(key)) cancelRetry ??= realClock(registry.clock).after(retryMs, enqueueAll);
  };
  const callbacks: Callbacks = {
    changed(key) {
      known.add(key);
      enqueue(key);
    },
    removed: (key) => void known.delete(key),
    known: () => known,
    serverLeft: enqueueAll,
    failed: (error) => logger.warn("Failed to read storage versions or leases", { error: String(error) }),
  };
  let followers: readonly Follower[] = [];
  return {
    start() {
      followers = follow(registry, store, leases, callbacks);
    },
    async stop() {
      cancelRetry?.();
      for (const follower of followers) follower.stop();
      await queue.stop();
    },
  };
}

/** What the followers report, by the keys of StorageVersions. */
interface Callbacks {
  changed(key: string): void;
  removed(key: string): void;
  known(): Iterable<string>;
  /** The Lease of a server is gone, or may be. */
  serverLeft(): void;
  failed(error: unknown): void;
}

function follow(
  { clock }: RegistryContext,
  { cache, form }: ResourceStore,
  leases: ResourceStore,
  { changed, removed, known, serverLeft, failed }: Callbacks,
): readonly Follower[] {
  return [
    followCache({
      clock,
      failed,
      cache,
      prefix: form.prefix,
      set: ({ key }) => changed(key),
      deleted: ({ key }) => removed(key),
      knownKeys: known,
      missing: removed,
    }),
    followCache({
      clock,
      failed,
      cache: leases.cache,
      prefix: leases.keyOf(identityNamespace, ""),
      set() {},
      deleted(entry) {
        if (isIdentity(entry)) serverLeft();
      },
      knownKeys: () => [],
      missing() {},
      relisted: serverLeft,
    }),
  ];
}

function isIdentity({ index }: Entry): boolean {
  const [label, value] = identityLabel;
  return index.labels.get(label) === value;
}

/** @returns false when another writer has changed the object */
async function collect(
  registry: RegistryContext,
  { target, store }: StorageVersions,
  leases: ResourceStore,
  key: string,
): Promise<boolean> {
  const entry = await currentEntry(store, key);
  if (entry === undefined) return true;
  const servers = serversOf(store.decode(entry));
  const found = await Promise.all(
    servers.map(({ apiServerID }) => currentEntry(leases, leases.keyOf(identityNamespace, apiServerID))),
  );
  const existing = servers.filter((_, at) => found[at] !== undefined && isIdentity(found[at]));
  if (existing.length === servers.length) return true;
  const { name } = entry.index;
  if (existing.length === 0)
    return unlessConflict(() => {
      const preconditions = { resourceVersion: String(entry.revision) };
      return deleteOne(registry, { ...writes.of(target, "", name), options: { dryRun: false, preconditions } });
    });
  return unlessConflict(() =>
    update(registry, {
      ...writes.of(target, "", name, "status"),
      next() {
        const object = store.decode(entry);
        setServers(object, existing, registry.clock.now());
        return object;
      },
    }),
  );
}
