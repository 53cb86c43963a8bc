/** One server to a data directory. */
import { join } from "node:path";

export interface DirectoryLock {
  release(): void;
}

/** SQLITE_BUSY. Source: sqlite.org/rescode.html. */
const busy = 5;

/**
 * Node has no file locks of its own, but the SQLite that comes with it has: an exclusive transaction on an empty database is a lock that the
 * operating system takes back when the process ends, however it ends. Nothing is ever written to the file.
 * @throws Error naming the directory when another server has it
 */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  const { DatabaseSync } = await import("node:sqlite");
  const file = new DatabaseSync(join(dir, "lock"), { timeout: 0 });
  try {
    file.exec("PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE");
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== busy) throw error;
    throw new Error(`the data directory ${dir} is in use by another server`, { cause: error });
  }
  return { release: () => file.close() };
}
