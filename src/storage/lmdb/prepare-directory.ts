/**
 * Checks the data directory and the limits of this process before a store is opened, with errors
 * that say what to change.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { makeDirectory } from "../../apimachinery/make-directory.ts";
import { dataFile } from "./check-file.ts";

/**
 * Creates the directory if needed.
 * @param mapBytes address space that the memory map needs; undefined skips the check
 * @throws Error when the directory cannot be created or written, or the address space is limited
 */
export function prepareDirectory(dir: string, mapBytes: number | undefined): void {
  try {
    makeDirectory(dir, { mode: 0o700 });
  } catch (error) {
    throw new Error(`the data directory ${dir} cannot be made: ${(error as Error).message}`, { cause: error });
  }
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`the data directory ${dir} cannot be written to: ${(error as Error).message}`, { cause: error });
  }
  if (mapBytes !== undefined)
    checkAddressSpace(Math.max(mapBytes, statSync(dataFile(dir), { throwIfNoEntry: false })?.size ?? 0));
}

/**
 * LMDB reserves the whole map at once, and lmdb-js crashes the process when that fails. Only Linux
 * reports the limit.
 */
function checkAddressSpace(mapBytes: number): void {
  if (process.platform !== "linux") return;
  const limit = Number(
    /^Max address space +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Number.POSITIVE_INFINITY,
  );
  const usedKiB = Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0);
  const free = limit - usedKiB * 1024;
  if (free >= mapBytes) return;
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
  throw new Error(
    `the store needs ${gib(mapBytes)} GiB of address space, and the limit of this process (ulimit -v) leaves ${gib(free)} GiB`,
  );
}
