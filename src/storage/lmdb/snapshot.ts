/** One state of a store, read while a server, of this process or another, may go on writing. */
import { existsSync } from "node:fs";
import type { Database, RootDatabaseOptionsWithPath, Transaction } from "lmdb";
import { dataFile } from "./check-file.ts";
import { expiryKey, integerKey, textKey } from "./keys.ts";
import { checkedMarks, isEmpty, openMap } from "./maps.ts";
import type { StoredMarks } from "./marks.ts";

export interface StoreSnapshot {
  readonly marks: StoredMarks;
  /** To be given with each read. */
  readonly transaction: Transaction;
  readonly log: Database<Buffer, number>;
  readonly current: Database<Buffer, string>;
  readonly expiry: Database<Buffer, [number, number]>;
  close(): Promise<void>;
}

/**
 * As long as it is open, LMDB gives no page back that was in use at the time: the file grows with what is written.
 * @param dir of the store
 * @throws DamagedStore when the marks are damaged · Error when there is no store in the directory, or it is of a newer server
 */
export async function openSnapshot(dir: string): Promise<StoreSnapshot> {
  if (!existsSync(dataFile(dir))) throw new Error(`${dir} has no data.mdb: it is no store`);
  const { open } = await import("lmdb");
  // The lock file may be missing.
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
    // Before the transaction: the first write of a new store may come between the two.
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
