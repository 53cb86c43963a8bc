/**
 * `coxswain store restore`: creates a store from a backup; its revisions are above all that the old
 * store assigned.
 */
import type { DamagedObject } from "../../storage/lmdb/backup/format.ts";
import { type BackupEntry, DamagedBackup, readBackup } from "../../storage/lmdb/backup/read-backup.ts";
import { checkAbsent, type NewEntry, writeStore } from "../../storage/lmdb/write-store.ts";
import { storeDirectory } from "../../storage/options.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { describeDamaged } from "./backup.ts";
import { exitDamaged, exitWhole, raisedRevision } from "./contract.ts";
import { progressBar } from "./progress-bar.ts";

export interface RestoreOptions {
  readonly bumpRevision: number;
  readonly output: OutputFormat;
}

/**
 * Runs `coxswain store restore`.
 *
 * @returns the exit code
 * @throws DamagedBackup or Error; no store exists then
 */
export async function restoreStore(
  file: string,
  dataDir: string,
  { bumpRevision, output }: RestoreOptions,
  io: Output,
): Promise<number> {
  const dir = storeDirectory(dataDir);
  checkAbsent(dir);
  const { out, err } = io;
  const bar = progressBar(io);
  const entries = readBackup(file, (read, of) => bar.show("Restoring", read, of, "bytes"));
  const first: BackupEntry | undefined = entries.next().value ?? undefined;
  if (first?.kind !== "begin") throw new DamagedBackup(file, "it has no beginning");
  const revision = raisedRevision(first.revision, bumpRevision);
  const damaged: DamagedObject[] = [];
  let objects = 0;
  await writeStore({ dir, revision, entries: newEntries() });
  bar.end();
  if (output === "json")
    out(
      `${JSON.stringify({ store: dir, backupRevision: first.revision, revision, objects, damaged }, undefined, 2)}\n`,
    );
  else {
    out(`${dir}: ${objects} objects of revision ${first.revision}; the store goes on at revision ${revision}\n`);
    if (damaged.length > 0)
      err(
        `Objects that were damaged when the backup was taken, and are missing:\n${damaged.map(describeDamaged).join("")}`,
      );
  }
  return damaged.length > 0 ? exitDamaged : exitWhole;

  function* newEntries(): Generator<NewEntry> {
    for (const entry of entries) {
      if (entry.kind === "record") {
        objects++;
        yield { put: entry.change };
      } else if (entry.kind === "expiry") yield { expiry: entry.expiry };
      else if (entry.kind === "damaged") damaged.push(entry.object);
    }
  }
}
