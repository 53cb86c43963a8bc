/** Opens the LMDB environment with its four maps, and adds functions that lmdb-js does not have. */
import { open as openFile } from "node:fs/promises";
import { dirname } from "node:path";
import type {
  Database,
  DatabaseOptions,
  RootDatabase,
  RootDatabaseOptionsWithPath,
  Transaction,
  TransactionFlags,
} from "lmdb";
import { DamagedStore } from "../contract.ts";
import { expiryKey, integerKey, type KeyEncoder, textKey } from "./keys.ts";
import { decodeMarks, layoutFormat, type StoredMarks } from "./marks.ts";

/**
 * Initial size of the memory map. It uses address space, not memory, and lmdb-js grows it when
 * needed. Unset on Windows, which would allocate a file of that size.
 */
export const mapBytes = process.platform === "win32" ? undefined : 16 * 2 ** 30;
/** lmdb-js's TransactionFlags.SYNCHRONOUS_COMMIT, which it declares but does not export. */
const synchronousCommit = 2 as TransactionFlags;

export interface MapsOptions {
  readonly dir: string;
  /**
   * `full`: a write is synced to disk before it resolves. `relaxed`: the operating system has the
   * data; a crash of the operating system may damage the store.
   */
  readonly durability: "full" | "relaxed";
}

export interface Maps {
  readonly root: RootDatabase;
  /** The marks at the time of opening. */
  readonly marks: StoredMarks;
  /** Contains one value: the marks. */
  readonly meta: Database<Buffer, string>;
  /** Maps a position to the change with its value. */
  readonly log: Database<Buffer, number>;
  /** Maps a key to the position of its latest put. */
  readonly current: Database<Buffer, string>;
  /** Maps a time and position to the key that expires. */
  readonly expiry: Database<Buffer, [number, number]>;
}

/**
 * Opens the environment for reading and writing.
 * @throws DamagedStore when the marks are damaged
 * @throws Error when the directory cannot be read, or has the format of a newer server
 */
export async function openMaps({ dir, durability }: MapsOptions): Promise<Maps> {
  const { open } = await import("lmdb");
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path: dir,
    noSubdir: false,
    permissionsMode: 0o600,
    maxDbs: 4,
    // Unused parts of pages would have what the memory of the process had: objects, keys and tokens.
    noMemInit: false,
    ...(mapBytes && { mapSize: mapBytes }),
    // Otherwise a write resolves before it is on disk.
    overlappingSync: false,
    noSync: durability === "relaxed",
    // The storage engine groups writes itself.
    eventTurnBatching: false,
  };
  const root = open(options);
  try {
    const meta = openMap(root, "meta", textKey);
    const log = openMap(root, "log", integerKey);
    const current = openMap(root, "current", textKey);
    const expiry = openMap(root, "expiry", expiryKey);
    const marks = checkedMarks(dir, meta.getBinary("marks"), { isNew: () => isNew({ log, current }) });
    if (durability === "full") await syncDirectories(dir);
    return { root, marks, meta, log, current, expiry };
  } catch (error) {
    await root.close();
    throw error;
  }
}

/**
 * Decodes the marks.
 * @param isNew returns whether the store has no entries; called only if there are no marks, which
 * only a new store may lack
 * @throws DamagedStore
 * @throws Error when a newer server has written them
 */
export function checkedMarks(
  dir: string,
  bytes: Buffer | undefined,
  { isNew }: { readonly isNew: () => boolean },
): StoredMarks {
  const verdict = bytes === undefined && !isNew() ? { problem: "the marks are missing" } : decodeMarks(bytes);
  if ("marks" in verdict) return verdict.marks;
  if ("problem" in verdict) throw new DamagedStore(`the store in ${dir} is damaged: ${verdict.problem}`);
  throw new Error(
    `the store in ${dir} has format ${verdict.newerFormat}, that of a newer server; this one reads formats up to ${layoutFormat}`,
  );
}

/** Syncs the directories, so that new files exist after a crash. */
async function syncDirectories(dir: string): Promise<void> {
  if (process.platform === "win32") return; // Windows cannot open directories.
  for (const path of [dir, dirname(dir)]) {
    const directory = await openFile(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}

export function openMap<Key extends string | number | [number, number]>(
  root: RootDatabase,
  name: string,
  keyEncoder: KeyEncoder<Key>,
): Database<Buffer, Key> {
  const options: DatabaseOptions & { name: string; keyEncoder: KeyEncoder<Key> } = {
    name,
    encoding: "binary",
    keyEncoder,
  };
  return root.openDB<Buffer, Key>(options);
}

/** Returns whether a store has no entries, in the transaction if there is one. */
export function isNew({ log, current }: Pick<Maps, "log" | "current">, transaction?: Transaction): boolean {
  for (const _ of log.getRange({ start: 0, limit: 1, transaction })) return false;
  for (const _ of current.getRange({ start: "", limit: 1, transaction })) return false;
  return true;
}

/** Returns the length of the value that the last `getBinaryFast` returned in its larger buffer. */
export function lastSize<Key extends string | number>(map: Database<Buffer, Key>): number {
  return (map as unknown as { lastSize: number }).lastSize;
}

/** Returns the end of the part of the file that LMDB uses. */
export function usedBytes(root: RootDatabase): number {
  const { pageSize, lastPageNumber } = root.getStats() as { pageSize: number; lastPageNumber: number };
  return pageSize * (lastPageNumber + 1);
}

/**
 * Returns false after a failed write of a meta page, when LMDB rejects all transactions
 * (MDB_PANIC).
 */
export function isUsable(root: RootDatabase): boolean {
  try {
    root.transactionSync(() => undefined, synchronousCommit);
    return true;
  } catch {
    return false; // Any error means that it cannot begin a transaction.
  }
}

/**
 * Returns the reason of a failed write: lmdb-js rejects with an error whose `commitError` rejects
 * with the reason later.
 */
export async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.then(
    () => error,
    (cause: unknown) => cause,
  );
}
