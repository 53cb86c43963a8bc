/** `coxswain store backup`: a backup of a store, whether a server runs on it or not. */
import { existsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { startBackup } from "../../storage/lmdb/backup/backup-process.ts";
import type { DamagedObject } from "../../storage/lmdb/backup/format.ts";
import { readBackup } from "../../storage/lmdb/backup/read-backup.ts";
import type { BackupSummary } from "../../storage/lmdb/backup/write-backup.ts";
import { unfinishedPath } from "../../storage/lmdb/unfinished.ts";
import { exitDamaged, exitWhole, type Output, type OutputFormat } from "./contract.ts";
import { findStore } from "./places.ts";

/** @returns the exit code. @throws Error when there is no backup at the end */
export async function backupStore(
  dataDir: string,
  file: string,
  output: OutputFormat,
  { out, err }: Output,
): Promise<number> {
  const dir = findStore(dataDir);
  if (existsSync(file)) throw new Error(`${file} exists already, and nothing is overwritten`);
  const unfinished = unfinishedPath(file);
  let summary: BackupSummary;
  try {
    summary = await writeBackup(dir, unfinished);
    // A backup that cannot be read is none.
    for (const _ of readBackup(unfinished));
    await rename(unfinished, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  const { revision, objects, damagedObjects, damaged } = summary;
  if (output === "json")
    out(
      `${JSON.stringify({ file, bytes: statSync(file).size, revision, objects, damagedObjects, damaged }, undefined, 2)}\n`,
    );
  else {
    out(`${file}: ${objects} objects at revision ${revision}\n`);
    if (damagedObjects > 0)
      err(`${damagedObjects} damaged objects are not in it:\n${damaged.map(describeDamaged).join("")}`);
  }
  return damagedObjects > 0 ? exitDamaged : exitWhole;
}

async function writeBackup(dir: string, file: string): Promise<BackupSummary> {
  const handle = await open(file, "wx", 0o600);
  try {
    const backup = startBackup(dir, handle.fd);
    const stop = (): void => backup.stop();
    process.once("SIGINT", stop).once("SIGTERM", stop);
    const summary = await backup.finished.finally(() => process.off("SIGINT", stop).off("SIGTERM", stop));
    await handle.sync();
    return summary;
  } finally {
    await handle.close();
  }
}

export function describeDamaged({ key, revision, problem }: DamagedObject): string {
  return `  ${key}${revision === undefined ? "" : ` (revision ${revision})`}: ${problem}\n`;
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return; // It does not open directories.
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
