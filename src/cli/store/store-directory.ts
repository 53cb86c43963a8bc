/** Finds and locks the store in a data directory. */
import { existsSync } from "node:fs";
import { dataFile } from "../../storage/lmdb/check-file.ts";
import { type DirectoryLock, lockDirectory } from "../../storage/lmdb/directory-lock.ts";
import { storeDirectory } from "../../storage/options.ts";

/** @returns the directory of the store @throws Error when the data directory has no store */
export function findStore(dataDir: string): string {
  const dir = storeDirectory(dataDir);
  if (!existsSync(dataFile(dir)))
    throw new Error(`${dataDir} has no storage/data.mdb: it is not the --data-dir of a server`);
  return dir;
}

/**
 * Holds the lock of the store during `run`, so that no server opens it.
 *
 * @throws Error when a server is running
 */
export async function withStoreLocked<Result>(dir: string, run: () => Promise<Result>): Promise<Result> {
  const lock: DirectoryLock = await lockDirectory(dir);
  try {
    return await run();
  } finally {
    lock.release();
  }
}
