/** Builds storage: the engine, the watch caches over it, and their compaction. */
import type { Clock } from "../apimachinery/clock.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { createInstaller, type Installer } from "../catalog/install.ts";
import type { EtcdMetrics } from "../metrics/etcd-metrics.ts";
import type { ServerOptions } from "../options.ts";
import type { SharedEncoding } from "../registry/contract.ts";
import { startCompactor } from "../storage/compactor.ts";
import type { Storage, StorageObserver } from "../storage/contract.ts";
import { type StorageDamage, storeDirectory, valueBytesMaxDefault } from "../storage/options.ts";
import { isRouted } from "../storage/routed-storage.ts";
import type { Closers } from "./closers.ts";

interface ServerStorage {
  readonly storage: Storage;
  /** Opens the watch cache of each resource. */
  readonly installer: Installer;
  /** Whether other servers can have the same store open. */
  readonly isShared: boolean;
}

interface Needs {
  readonly gates: FeatureGates;
  readonly etcd: Pick<EtcdMetrics, "observer" | "resolve">;
  readonly closers: Closers;
}

/** Reads that need many pages go on for so long, however short the configured history is. */
const storedHistoryMinMs = 60_000;

/**
 * @param shared a store that is open already; the caller closes it
 * @throws Error when another server has the data directory · DamagedStore
 */
export async function openStorage(
  options: ServerOptions,
  { gates, etcd, closers }: Needs,
  shared?: Storage,
): Promise<ServerStorage> {
  const storage = shared ?? (await openEngine(options, etcd.observer));
  if (shared === undefined) closers.add(() => storage.close());
  const storageOf = (prefix: string): Storage => (isRouted(storage) ? storage.forPrefix(prefix) : storage);
  const installer = createInstaller({
    storageOf,
    clock: options.clock,
    gates,
    historyMs: options.historyMs,
  });
  etcd.resolve(installer.findByKey);
  closers.add(() => {
    for (const cache of installer.caches().values()) cache.close();
  });
  closers.add(
    storage.isShared
      ? followCompactions(options.clock, storageOf, installer)
      : compactPeriodically(options, { storage, installer }),
  );
  return { storage, installer, isShared: shared !== undefined || storage.isShared };
}

/** How objects are encoded for a shared store. */
export function sharedEncoding({ storageMediaType }: ServerOptions, gates: FeatureGates): SharedEncoding {
  return { mediaType: storageMediaType, customCbor: gates.enabled("CBORServingAndStorage") };
}

async function openEngine(options: ServerOptions, observer: StorageObserver): Promise<Storage> {
  if (options.storage === "etcd") {
    const { openEtcd } = await import("./etcd.ts");
    return openEtcd(options, observer);
  }
  const onDamage = ({ key, revision, problem }: StorageDamage): void =>
    options.logger.error("Found damage in the store", { ...(key !== undefined && { key }), revision, problem });
  const historyMs = Math.max(options.historyMs, storedHistoryMinMs);
  const common = { ...options, historyMs, valueBytesMax: valueBytesMaxDefault, onDamage };
  if (options.storage === "memory") {
    const { openMemoryStorage } = await import("../storage/memory.ts");
    return openMemoryStorage(common);
  }
  if (options.dataDir === undefined) throw new Error("storage lmdb needs a data directory");
  const dir = storeDirectory(options.dataDir);
  const { openLmdbStorage } = await import("../storage/lmdb/lmdb.ts");
  return openLmdbStorage({ ...common, dir });
}

/** @returns stops it */
function compactPeriodically(
  { compactionIntervalMs = 0, clock, logger }: ServerOptions,
  { storage, installer }: Pick<ServerStorage, "storage" | "installer">,
): () => void {
  if (compactionIntervalMs === 0) return () => {};
  return startCompactor({
    storage,
    clock,
    intervalMs: compactionIntervalMs,
    compacted(revision) {
      for (const cache of installer.caches().values()) cache.forgetBefore(revision);
    },
    failed: (error) => logger.error("Compaction failed", { error: String(error) }),
  });
}

/** Source: `k8s.io/apiserver@v0.36.0/pkg/storage/cacher/compactor.go`. */
const followMs = 15_000;

/**
 * The engine of a shared store compacts it, in agreement with other servers. The caches must reject
 * the same revisions as the store, also after compactions of other servers.
 * @returns stops it
 */
export function followCompactions(
  clock: Clock,
  storageOf: (prefix: string) => Pick<Storage, "compacted">,
  installer: Pick<Installer, "caches">,
): () => void {
  let cancel = (): void => {};
  const follow = (): void => {
    for (const [prefix, cache] of installer.caches()) cache.forgetBefore(storageOf(prefix).compacted());
    cancel = clock.after(followMs, follow);
  };
  follow();
  return () => cancel();
}
