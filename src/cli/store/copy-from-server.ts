/** Copies a data directory while a server uses it, and waits until that server has stopped. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openBackupSource } from "../../storage/copy/backup-source.ts";
import type { CopySource } from "../../storage/copy/contract.ts";
import { lmdbSourceId } from "../../storage/copy/lmdb-source.ts";
import { unfinishedPath } from "../../storage/lmdb/unfinished.ts";
import type { Output } from "../output.ts";
import { lockUnlessServed, writeBackup } from "./backup.ts";
import { findStore } from "./store-directory.ts";

const pollMs = 500;

/**
 * Copies a backup that the server takes; then only changed objects are left to copy. Does nothing
 * without a server.
 *
 * @param copy copies the state of the backup
 * @throws Error when the server does not take a backup, or the copy fails
 */
export async function copyFromServer(
  dataDir: string,
  { err }: Pick<Output, "err">,
  copy: (source: CopySource) => Promise<void>,
): Promise<void> {
  const dir = findStore(dataDir);
  if (!(await isServed(dir))) return;
  // It contains Secrets: only the owner reads it, and the next command removes one that was left.
  const file = unfinishedPath(join(dataDir, "copy"));
  try {
    await writeBackup(dataDir, dir, file);
    const source = openBackupSource(file, lmdbSourceId(dir));
    try {
      await copy(source);
    } finally {
      await source.close();
    }
    err(`Copied revision ${await source.current()}. To cut over, stop the server: its later changes are copied then\n`);
  } finally {
    await rm(file, { force: true });
  }
  while (await isServed(dir)) await sleep(pollMs);
}

async function isServed(dir: string): Promise<boolean> {
  const lock = await lockUnlessServed(dir);
  lock?.release();
  return lock === undefined;
}
