/** `coxswain store backup`: writes a backup of a store, which a server may be using. */
import { existsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { startBackup } from "../../storage/lmdb/backup/backup-process.ts";
import type { DamagedObject } from "../../storage/lmdb/backup/format.ts";
import { readBackup } from "../../storage/lmdb/backup/read-backup.ts";
import type { BackupSummary } from "../../storage/lmdb/backup/write-backup.ts";
import { unfinishedPath } from "../../storage/lmdb/unfinished.ts";
import type { Output } from "../output.ts";
import { exitDamaged, exitWhole, type OutputFormat } from "./contract.ts";
import { findStore } from "./store-directory.ts";

/** Runs `coxswain store backup`. @returns the exit code @throws Error; no backup exists then */
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
    // Only a backup that can be read completely gets its final name.
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

/** One line for a damaged object. */
export function describeDamaged({ key, revision, problem }: DamagedObject): string {
  return `  ${key}${revision === undefined ? "" : ` (revision ${revision})`}: ${problem}\n`;
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return; // Windows cannot open directories.
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
