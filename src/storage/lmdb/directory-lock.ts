/** Ensures that only one server uses a data directory. */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

/** The lock of a store's directory. */
export interface DirectoryLock {
  release(): void;
}

/** Another process has locked the directory. */
export class DirectoryInUse extends Error {}

/**
 * SQLITE_BUSY; SQLite also returns it when the file system has no locks (`ENOLCK`).
 * Source: sqlite.org/rescode.html, os_unix.c.
 */
const busy = 5;

/**
 * Locks a data directory. Node has no API for file locks, but its SQLite has them: an exclusive
 * transaction on an empty database is a lock that the operating system releases when the process
 * ends for any reason. The file is never written, nor is a journal (`OFF` is ignored in the defensive mode of Node.js),
 * so that a server starts on a full disk.
 * @throws DirectoryInUse naming the directory when another server uses it
 * @throws Error naming the directory when it cannot be locked
 */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  const { DatabaseSync } = await import("node:sqlite");
  const path = join(dir, "lock");
  const file = openDatabase(dir, () => {
    // SQLite would create it for other users to read.
    closeSync(openSync(path, "a", 0o600));
    return new DatabaseSync(path, { timeout: 0 });
  });
  try {
    file.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode !== busy) throw new Error(`the data directory ${dir} cannot be locked: ${message}`, { cause: error });
    throw new DirectoryInUse(`the data directory ${dir} is in use by another server${await holderOf(path)}`, {
      cause: error,
    });
  }
  return { release: () => file.close() };
}

function openDatabase<Database>(dir: string, open: () => Database): Database {
  try {
    return open();
  } catch (error) {
    throw new Error(`the data directory ${dir} cannot be locked: ${(error as Error).message}`, { cause: error });
  }
}

/** Describes which process has locked the file; nothing on systems other than Linux, which do not list locks. */
async function holderOf(path: string): Promise<string> {
  if (process.platform !== "linux") return ` (\`lsof ${path}\` names its process)`;
  const { findLocker, formatProcess } = await import("../../lib/processes/find-process.ts");
  const holder = findLocker(path);
  if (holder === "unknown") return ", a process that cannot be seen here";
  if (holder === undefined) return ", or is on a file system without locks: no process of this machine has it";
  return `, ${formatProcess(holder)}`;
}
