/** Builds storage: the engine, the watch caches over it, and their compaction. */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { createInstaller, type Installer } from "../catalog/install.ts";
import type { ServerOptions } from "../options.ts";
import { startCompactor } from "../storage/compactor.ts";
import type { Storage } from "../storage/contract.ts";
import { type StorageDamage, storeDirectory, valueBytesMaxDefault } from "../storage/options.ts";
import type { Closers } from "./closers.ts";

interface ServerStorage {
  readonly storage: Storage;
  /** Opens the watch cache of each resource. */
  readonly installer: Installer;
}

/** Reads that need many pages go on for so long, however short the configured history is. */
const storedHistoryMinMs = 60_000;

/** @throws Error when another server has the data directory · DamagedStore */
export async function openStorage(
  options: ServerOptions,
  gates: FeatureGates,
  closers: Closers,
): Promise<ServerStorage> {
  const storage = await openEngine(options);
  closers.add(() => storage.close());
  const installer = createInstaller({ storage, clock: options.clock, gates, historyMs: options.historyMs });
  closers.add(() => {
    for (const cache of installer.caches().values()) cache.close();
  });
  closers.add(compactPeriodically(options, { storage, installer }));
  return { storage, installer };
}

async function openEngine(options: ServerOptions): Promise<Storage> {
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
  { storage, installer }: ServerStorage,
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
