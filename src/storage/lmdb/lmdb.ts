import type { Storage } from "../contract.ts";
import { openEmbeddedStorage } from "../embedded/embedded-storage.ts";
import type { StorageOptions } from "../options.ts";
import { LmdbLedger } from "./lmdb-ledger.ts";
import { type MapsOptions, mapBytes } from "./maps.ts";
import { prepareDirectory } from "./prepare-directory.ts";

export type LmdbOptions = StorageOptions & MapsOptions;

/**
 * The engine that keeps everything in a directory, which is made if it is missing.
 * @throws DamagedStore · Error when another server has the directory, or it cannot be read
 */
export async function openLmdbStorage(options: LmdbOptions): Promise<Storage> {
  prepareDirectory(options.dir, mapBytes);
  return openEmbeddedStorage(await LmdbLedger.open(options), options);
}
