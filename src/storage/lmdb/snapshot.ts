/** Reads one state of the file of a store, to which a server may go on writing. */
import { existsSync, rmSync } from "node:fs";
import type { Database, RootDatabaseOptionsWithPath, Transaction } from "lmdb";
import { dataFile } from "./check-file.ts";
import { expiryKey, integerKey, textKey } from "./keys.ts";
import { checkedMarks, isNew, openMap } from "./maps.ts";
import type { StoredMarks } from "./marks.ts";

/** One state of a store. */
export interface StoreSnapshot {
  readonly marks: StoredMarks;
  /** Pass it to each read. */
  readonly transaction: Transaction;
  readonly log: Database<Buffer, number>;
  readonly current: Database<Buffer, string>;
  /** What `current` has; an iteration that ends before has met a damaged page. */
  readonly objects: number;
  readonly expiry: Database<Buffer, [number, number]>;
  close(): Promise<void>;
}

/**
 * Opens a snapshot. While it is open, the server that has the store must hold a `StatePin`, taken
 * before; without a server, the caller must hold the lock of the directory. Otherwise LMDB would
 * reuse the pages of the snapshot.
 * @param dir the directory of the store
 * @throws DamagedStore when the marks are damaged
 * @throws Error when the directory has no store, or that of a newer server
 */
export async function openSnapshot(dir: string): Promise<StoreSnapshot> {
  if (!existsSync(dataFile(dir))) throw new Error(`${dir} has no data.mdb: it is no store`);
  const { open } = await import("lmdb");
  // With a lock file of its own: a process that opens the lock file of a running server writes the
  // transaction number there that it has read before (mdb_env_open2 in mdb.c of lmdb-js 3.5.6). When
  // the server has written meanwhile, its next transaction starts from the older state, and the
  // write between them is lost.
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path: dataFile(dir),
    noSubdir: true,
    permissionsMode: 0o600,
    readOnly: true,
    maxDbs: 4,
  };
  const root = open(options);
  const closeRoot = async (): Promise<void> => {
    await root.close();
    rmSync(`${dataFile(dir)}-lock`, { force: true });
  };
  try {
    const meta = openMap(root, "meta", textKey);
    const maps = {
      log: openMap(root, "log", integerKey),
      current: openMap(root, "current", textKey),
      expiry: openMap(root, "expiry", expiryKey),
    };
    const transaction = root.useReadTransaction();
    const objects = entryCount(maps.current); // In the same transaction.
    const close = async (): Promise<void> => {
      transaction.done();
      await closeRoot();
    };
    const marks = checkedMarks(dir, meta.get("marks", { transaction }), { isNew: () => isNew(maps, transaction) });
    return { ...maps, objects, marks, transaction, close };
  } catch (error) {
    await closeRoot();
    throw error;
  }
}

/**
 * The number of entries in the current transaction. The public `getStats` also walks the list of free pages, which may be damaged where all objects
 * are whole.
 */
function entryCount(map: Database<Buffer, string>): number {
  const { db } = map as unknown as { readonly db: { stat(): { readonly entryCount: number } } };
  return db.stat().entryCount;
}
