/** One server to a data directory. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export interface DirectoryLock {
  release(): void;
}

/** SQLITE_BUSY, also where the file system has no locks (`ENOLCK`). Source: sqlite.org/rescode.html, os_unix.c. */
const busy = 5;

/**
 * Node has no file locks of its own, but the SQLite that comes with it has: an exclusive transaction on an empty database is a lock that the
 * operating system takes back when the process ends, however it ends. Nothing is ever written to the file.
 * @throws Error naming the directory when another server has it, or it cannot be locked
 */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  const { DatabaseSync } = await import("node:sqlite");
  const path = join(dir, "lock");
  const file = openDatabase(dir, () => new DatabaseSync(path, { timeout: 0 }));
  try {
    file.exec("PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (errcode !== busy) throw new Error(`the data directory ${dir} cannot be locked: ${message}`, { cause: error });
    const why = isLockedHere(path) ? "" : ", or is on a file system without locks: no process of this machine has it";
    throw new Error(`the data directory ${dir} is in use by another server${why}`, { cause: error });
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

/** Whether a process of this machine has a lock on the file; true where that cannot be known. Linux alone lists them. */
function isLockedHere(path: string): boolean {
  if (process.platform !== "linux") return true;
  const { ino } = statSync(path);
  return readFileSync("/proc/locks", "utf8").includes(`:${ino} `);
}
