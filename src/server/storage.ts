/** Builds storage: the engine, the watch caches over it, and their compaction. */
import type { Clock } from "../apimachinery/clock.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { createInstaller, type Installer } from "../catalog/install.ts";
import type { EtcdMetrics } from "../metrics/etcd-metrics.ts";
import type { UnexpectedErrors } from "../metrics/unexpected-errors.ts";
import type { SharedEncoding } from "../registry/contract.ts";
import { startCompactor } from "../storage/compactor.ts";
import type { Storage, StorageObserver } from "../storage/contract.ts";
import { type MemoryStorage, openMemoryStorage } from "../storage/memory.ts";
import { type StorageDamage, type StorageOptions, storeDirectory, valueBytesMaxDefault } from "../storage/options.ts";
import { isRouted } from "../storage/routed-storage.ts";
import type { Closers } from "./closers.ts";
import type { ServerEncryption } from "./encryption.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerSnapshot } from "./snapshots.ts";

interface ServerStorage {
  readonly storage: Storage;
  /** Opens the watch cache of each resource. */
  readonly installer: Installer;
  /** Whether other servers can have the same store open. */
  readonly isShared: boolean;
  /** The store, if it is one in memory that this server has opened; its values are encrypted if those of `storage` are. */
  readonly memory: MemoryStorage | undefined;
  /** Undefined when no values are encrypted. */
  readonly encryption: ServerEncryption | undefined;
}

interface Needs {
  readonly gates: FeatureGates;
  readonly etcd: Pick<EtcdMetrics, "observer" | "resolve">;
  readonly closers: Closers;
  readonly unexpected: Pick<UnexpectedErrors, "ofSubscriber">;
}

/** Reads that need many pages go on for so long, however short the configured history is. */
const storedHistoryMinMs = 60_000;

/** What the store and the watch caches begin with, instead of being empty. */
interface Existing {
  /** A store that is open already; the caller closes it. */
  readonly storage?: Storage | undefined;
  /** What a new store in memory contains. */
  readonly snapshot?: Pick<ServerSnapshot, "state" | "caches"> | undefined;
}

/**
 * @throws Error when another server has the data directory · DamagedStore
 */
export async function openStorage(
  options: ServerOptions,
  { gates, etcd, closers, unexpected }: Needs,
  { storage: shared, snapshot }: Existing = {},
): Promise<ServerStorage> {
  const encryption = await openEncryption(options, gates, closers);
  const encrypt = encryption?.encrypt ?? asItIs;
  const memory = shared === undefined && options.storage === "memory" ? await openMemory(options, snapshot) : undefined;
  const embedded = shared ?? memory;
  const storage = embedded === undefined ? await openEngine(options, etcd.observer, encrypt) : encrypt(embedded);
  if (shared === undefined) closers.add(() => storage.close());
  const storageOf = (prefix: string): Storage => (isRouted(storage) ? storage.forPrefix(prefix) : storage);
  const installer = createInstaller({
    storageOf,
    clock: options.clock,
    gates,
    historyMs: options.historyMs,
    cacheStates: snapshot?.caches,
    cached: options,
    subscriberFailed: unexpected.ofSubscriber,
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
  return { storage, installer, isShared: shared !== undefined || storage.isShared, memory, encryption };
}

async function openEncryption(
  options: ServerOptions,
  gates: FeatureGates,
  closers: Closers,
): Promise<ServerEncryption | undefined> {
  if (options.encryptionConfigFile === undefined) return undefined;
  const { openServerEncryption } = await import("./encryption.ts");
  return openServerEncryption(options.encryptionConfigFile, { options, gates, closers });
}

const asItIs = (storage: Storage): Storage => storage;

/** How objects are encoded for a shared store. */
export function sharedEncoding({ storageMediaType }: ServerOptions, gates: FeatureGates): SharedEncoding {
  return { mediaType: storageMediaType, customCbor: gates.enabled("CBORServingAndStorage") };
}

/** @param encrypt applied to each store */
async function openEngine(
  options: ServerOptions,
  observer: StorageObserver,
  encrypt: ServerEncryption["encrypt"],
): Promise<Storage> {
  if (options.storage === "etcd") {
    const { openEtcd } = await import("./etcd.ts");
    return openEtcd(options, observer, encrypt);
  }
  if (options.dataDir === undefined) throw new Error("storage lmdb needs a data directory");
  const dir = storeDirectory(options.dataDir);
  const { openLmdbStorage } = await import("../storage/lmdb/lmdb.ts");
  const onDamage = ({ key, revision, problem }: StorageDamage): void =>
    options.logger.error("Found damage in the store", { ...(key !== undefined && { key }), revision, problem });
  return encrypt(await openLmdbStorage({ ...embeddedOptions(options), onDamage, dir }));
}

function openMemory(options: ServerOptions, snapshot: Existing["snapshot"]): Promise<MemoryStorage> {
  return openMemoryStorage(embeddedOptions(options), snapshot?.state);
}

function embeddedOptions(options: ServerOptions): StorageOptions & Pick<ServerOptions, "durability"> {
  const historyMs = Math.max(options.historyMs, storedHistoryMinMs);
  return { ...options, historyMs, valueBytesMax: valueBytesMaxDefault };
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
    compacted: (revision) => installer.forgetBefore(revision),
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
