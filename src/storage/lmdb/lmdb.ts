import type { Storage } from "../contract.ts";
import { openEmbeddedStorage } from "../embedded/embedded-storage.ts";
import type { StorageOptions } from "../options.ts";
import { LmdbLedger } from "./lmdb-ledger.ts";
import { type MapsOptions, mapBytes } from "./maps.ts";
import { prepareDirectory } from "./prepare-directory.ts";

export type LmdbOptions = StorageOptions & MapsOptions;

/**
 * Opens a store on disk. Creates the directory if it is missing.
 * @throws DamagedStore
 * @throws Error when another server uses the directory, or it cannot be read
 */
export async function openLmdbStorage(options: LmdbOptions): Promise<Storage> {
  prepareDirectory(options.dir, mapBytes);
  return openEmbeddedStorage(await LmdbLedger.open(options), options);
}
