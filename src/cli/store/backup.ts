/** `coxswain store backup`: writes a backup of a store, which a server may be using. */
import { existsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { startBackup } from "../../storage/lmdb/backup/backup-process.ts";
import type { DamagedObject } from "../../storage/lmdb/backup/format.ts";
import { readBackup } from "../../storage/lmdb/backup/read-backup.ts";
import { DirectoryInUse, type DirectoryLock, lockDirectory } from "../../storage/lmdb/directory-lock.ts";
import { unfinishedPath } from "../../storage/lmdb/unfinished.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { exitDamaged, exitWhole } from "./contract.ts";
import { type ProgressBar, progressBar } from "./progress-bar.ts";
import { findStore } from "./store-directory.ts";

/** Runs `coxswain store backup`. @returns the exit code @throws Error; no backup exists then */
export async function backupStore(dataDir: string, file: string, output: OutputFormat, io: Output): Promise<number> {
  const { out, err } = io;
  const dir = findStore(dataDir);
  if (existsSync(file)) throw new Error(`${file} exists already, and nothing is overwritten`);
  const unfinished = unfinishedPath(file);
  let summary: Summary;
  try {
    const bar = progressBar(io);
    await writeBackup(dataDir, dir, unfinished, bar);
    // Only a backup that can be read completely gets its final name.
    summary = summarize(unfinished, bar);
    bar.end();
    await rename(unfinished, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  const { revision, objects, damaged } = summary;
  const damagedObjects = damaged.length;
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

/** How often a backup's size is read while it is written. */
const barMs = 500;

interface Summary {
  readonly revision: number;
  readonly objects: number;
  readonly damaged: readonly DamagedObject[];
}

/** @throws DamagedBackup */
function summarize(file: string, bar: ProgressBar): Summary {
  const summary = { revision: 0, objects: 0, damaged: [] as DamagedObject[] };
  for (const entry of readBackup(file, (read, of) => bar.show("Verifying", read, of, "bytes"))) {
    if (entry.kind === "begin") summary.revision = entry.revision;
    else if (entry.kind === "record") summary.objects++;
    else if (entry.kind === "damaged") summary.damaged.push(entry.object);
  }
  return summary;
}

/**
 * Writes a backup to a new file. A server that has the store makes it itself: only it can keep the
 * pages of a state.
 * @throws Error; an incomplete file may be left then
 */
export async function writeBackup(dataDir: string, dir: string, file: string, bar?: ProgressBar): Promise<void> {
  const lock = await lockUnlessServed(dir);
  const handle = await open(file, "wx", 0o600);
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // How large it will be is not known: the file of a store also has history and free pages.
  const writing = setInterval(
    () => bar?.line(`Writing the backup, ${Math.floor(statSync(file).size / 2 ** 20)} MiB`),
    barMs,
  );
  try {
    if (lock === undefined) {
      const { saveBackup } = await import("../client/save-backup.ts");
      await saveBackup(join(dataDir, "kubeconfig"), handle, controller.signal);
    } else {
      const backup = startBackup(dir, { isHeld: true, release() {} }, handle.fd);
      controller.signal.addEventListener("abort", backup.stop);
      await backup.finished;
    }
    await handle.sync();
  } finally {
    clearInterval(writing);
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await handle.close();
    lock?.release();
  }
}

/** @returns undefined when a server uses the directory @throws Error when it cannot be locked */
export async function lockUnlessServed(dir: string): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(dir);
  } catch (error) {
    if (error instanceof DirectoryInUse) return undefined;
    throw error;
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
