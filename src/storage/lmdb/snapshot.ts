/** Reads one state of a store while a server, in this process or another, continues to write. */
import { existsSync } from "node:fs";
import type { Database, RootDatabaseOptionsWithPath, Transaction } from "lmdb";
import { dataFile } from "./check-file.ts";
import { expiryKey, integerKey, textKey } from "./keys.ts";
import { checkedMarks, isEmpty, openMap } from "./maps.ts";
import type { StoredMarks } from "./marks.ts";

interface StoreSnapshot {
  readonly marks: StoredMarks;
  /** Pass it to each read. */
  readonly transaction: Transaction;
  readonly log: Database<Buffer, number>;
  readonly current: Database<Buffer, string>;
  readonly expiry: Database<Buffer, [number, number]>;
  close(): Promise<void>;
}

/**
 * Opens a snapshot. While it is open, LMDB does not reuse its pages, so writes grow the file.
 * @param dir the directory of the store
 * @throws DamagedStore when the marks are damaged
 * @throws Error when the directory has no store, or that of a newer server
 */
export async function openSnapshot(dir: string): Promise<StoreSnapshot> {
  if (!existsSync(dataFile(dir))) throw new Error(`${dir} has no data.mdb: it is no store`);
  const { open } = await import("lmdb");
  // Sets the mode of the lock file, which LMDB creates when it is missing.
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path: dir,
    noSubdir: false,
    permissionsMode: 0o600,
    readOnly: true,
    maxDbs: 4,
  };
  const root = open(options);
  try {
    const meta = openMap(root, "meta", textKey);
    const maps = {
      log: openMap(root, "log", integerKey),
      current: openMap(root, "current", textKey),
      expiry: openMap(root, "expiry", expiryKey),
    };
    // Must precede the transaction: the first write of a new store may happen in between.
    const isNew = isEmpty(maps.log) && isEmpty(maps.current);
    const transaction = root.useReadTransaction();
    const close = async (): Promise<void> => {
      transaction.done();
      await root.close();
    };
    return { ...maps, marks: checkedMarks(dir, meta.get("marks", { transaction }), { isNew }), transaction, close };
  } catch (error) {
    await root.close();
    throw error;
  }
}
