/**
 * Creates a store from objects, atomically: it is written to another directory, and renamed after
 * it is synced to disk.
 */
import { existsSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectory } from "../../apimachinery/make-directory.ts";
import { type Change, type Expiry, revisionOf } from "../embedded/ledger.ts";
import { dataFile } from "./check-file.ts";
import { LmdbLedger } from "./lmdb-ledger.ts";
import { unfinishedPath } from "./unfinished.ts";

/** An entry of a store that is written as a whole. */
export type NewEntry = { readonly put: Change } | { readonly expiry: Expiry };

interface NewStore {
  /** The directory of the store; must not exist. Its parents are created. */
  readonly dir: string;
  /** The revision of the store, at least that of every object. Older revisions cannot be read. */
  readonly revision: number;
  /** At most one put per key. */
  readonly entries: Iterable<NewEntry>;
}

/** A transaction is written when its entries reach one of these sizes. */
const groupBytes = 4 << 20;
const groupChanges = 1024;

/**
 * @throws Error when the directory exists, or cannot be written; no part of the store is left then
 */
export async function writeStore({ dir, revision, entries }: NewStore): Promise<void> {
  checkAbsent(dir);
  makeDirectory(dirname(dir), { mode: 0o700 });
  const unfinished = unfinishedPath(dir);
  await mkdir(unfinished, { mode: 0o700 });
  try {
    await writeEntries(unfinished, revision, entries);
    await sync(dataFile(unfinished));
    await sync(unfinished);
    checkAbsent(dir);
    await rename(unfinished, dir);
    await sync(dirname(dir));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** @throws Error when the directory exists */
export function checkAbsent(dir: string): void {
  if (existsSync(dir))
    throw new Error(`${dir} exists already, and nothing is overwritten: move it away, or choose another directory`);
}

async function writeEntries(dir: string, revision: number, entries: Iterable<NewEntry>): Promise<void> {
  const ledger = await LmdbLedger.open({ dir, durability: "relaxed", trims: true });
  try {
    let changes: Change[] = [];
    let expiries: Expiry[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      // The store has no history.
      await ledger.write({
        changes,
        expiries,
        drop: [],
        dropExpiries: [],
        marks: { revision, compacted: revision, historyBytes: 0 },
      });
      [changes, expiries, bytes] = [[], [], 0];
    };
    for (const entry of entries) {
      if ("expiry" in entry) expiries.push(entry.expiry);
      else {
        const { put } = entry;
        if (revisionOf(put.position) > revision)
          throw new Error(`the object ${put.key} has revision ${revisionOf(put.position)}, above ${revision}`);
        changes.push({ ...put, previous: 0, historyBytes: 0 });
        bytes += put.value.length;
      }
      if (bytes >= groupBytes || changes.length + expiries.length >= groupChanges) await flush();
    }
    await flush();
  } finally {
    await ledger.close();
  }
}

/**
 * Replaces the content of a store by that of another one, atomically; the other one is removed. The caller holds the lock
 * of the store.
 */
export async function replaceStore(dir: string, { by }: { readonly by: string }): Promise<void> {
  await sync(dataFile(by));
  // It has the last transaction of the old content; a store without it opens as it was written.
  await rm(join(dir, "lock.mdb"), { force: true });
  await sync(dir);
  await rename(dataFile(by), dataFile(dir));
  await sync(dir);
  await rm(by, { recursive: true });
}

/** Syncs a file or directory to disk. */
export async function sync(path: string): Promise<void> {
  if (process.platform === "win32") return; // Windows cannot open directories.
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
