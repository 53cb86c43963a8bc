/** The LMDB environment: its four maps, how it is opened, and what lmdb-js leaves to its users. */
import { open as openFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Database, DatabaseOptions, RootDatabase, RootDatabaseOptionsWithPath, TransactionFlags } from "lmdb";
import { DamagedStore } from "../contract.ts";
import { expiryKey, integerKey, type KeyEncoder, textKey } from "./keys.ts";
import { decodeMarks, layoutFormat, type StoredMarks } from "./marks.ts";

/** Address space, not memory; grows beyond it by itself. Windows would allocate the file at once. */
export const mapBytes = process.platform === "win32" ? undefined : 16 * 2 ** 30;
/** lmdb-js's TransactionFlags.SYNCHRONOUS_COMMIT, which it declares but does not export. */
const synchronousCommit = 2 as TransactionFlags;

export interface MapsOptions {
  readonly dir: string;
  /** `full`: a write is on disk when it resolves. `relaxed`: it is with the operating system, whose crash may damage the store. */
  readonly durability: "full" | "relaxed";
}

export interface Maps {
  readonly root: RootDatabase;
  /** As they were when the maps were opened. */
  readonly marks: StoredMarks;
  /** Of one value: the marks. */
  readonly meta: Database<Buffer, string>;
  /** From position to the change with its value. */
  readonly log: Database<Buffer, number>;
  /** From key to the position of its latest put. */
  readonly current: Database<Buffer, string>;
  /** From time and position to key. */
  readonly expiry: Database<Buffer, [number, number]>;
}

/** @throws DamagedStore when the marks are damaged · Error when the directory cannot be read, or holds the format of a newer server */
export async function openMaps({ dir, durability }: MapsOptions): Promise<Maps> {
  const { open } = await import("lmdb");
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path: dir,
    noSubdir: false,
    permissionsMode: 0o600,
    maxDbs: 4,
    noMemInit: true,
    ...(mapBytes && { mapSize: mapBytes }),
    // Otherwise a write resolves before it is on disk.
    overlappingSync: false,
    noSync: durability === "relaxed",
    // Groups are made by our caller.
    eventTurnBatching: false,
  };
  const root = open(options);
  try {
    const meta = openMap(root, "meta", textKey);
    const log = openMap(root, "log", integerKey);
    const current = openMap(root, "current", textKey);
    const expiry = openMap(root, "expiry", expiryKey);
    const marks = checkedMarks(dir, meta.getBinary("marks"), { isNew: isEmpty(log) && isEmpty(current) });
    if (durability === "full") await syncDirectories(dir);
    return { root, marks, meta, log, current, expiry };
  } catch (error) {
    await root.close();
    throw error;
  }
}

/**
 * @param isNew the store has no entries: only then may it have no marks
 * @throws DamagedStore · Error when they are those of a newer server
 */
export function checkedMarks(
  dir: string,
  bytes: Buffer | undefined,
  { isNew }: { readonly isNew: boolean },
): StoredMarks {
  const verdict = bytes === undefined && !isNew ? { problem: "the marks are missing" } : decodeMarks(bytes);
  if ("marks" in verdict) return verdict.marks;
  if ("problem" in verdict) throw new DamagedStore(`the store in ${dir} is damaged: ${verdict.problem}`);
  throw new Error(
    `the store in ${dir} has format ${verdict.newerFormat}, that of a newer server; this one reads formats up to ${layoutFormat}`,
  );
}

/** New files must be found after a crash, too. */
async function syncDirectories(dir: string): Promise<void> {
  if (process.platform === "win32") return; // It does not open directories.
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

export function isEmpty<Key extends string | number>(map: Database<Buffer, Key>): boolean {
  return (map.getStats() as { entryCount: number }).entryCount === 0;
}

/** Length of the value that `getBinaryFast` has just returned in its larger buffer. */
export function lastSize<Key extends string | number>(map: Database<Buffer, Key>): number {
  return (map as unknown as { lastSize: number }).lastSize;
}

/** The end of what LMDB uses of its file. */
export function usedBytes(root: RootDatabase): number {
  const { pageSize, lastPageNumber } = root.getStats() as { pageSize: number; lastPageNumber: number };
  return pageSize * (lastPageNumber + 1);
}

/** After a write of a meta page has failed, LMDB takes nothing any more: MDB_PANIC. */
export function isUsable(root: RootDatabase): boolean {
  try {
    root.transactionSync(() => undefined, synchronousCommit);
    return true;
  } catch {
    return false; // Whatever it says: it could not begin a transaction.
  }
}

/** lmdb-js rejects a write with a promise of the reason, which is rejected a little later. */
export async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return commitError.then(
    () => error,
    (cause: unknown) => cause,
  );
}
