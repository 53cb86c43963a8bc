/**
 * The program that `startBackup` runs. Its argument is the store's directory. It writes the backup
 * to standard output, and the outcome to standard error.
 */
import { fdatasync, fstatSync, write as writeTo } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { BackupOutcome } from "./backup-process.ts";
import { type BackupSummary, backupPieces } from "./write-backup.ts";

/**
 * Each chunk is synced before the next one is written: syncing many bytes at once would delay the
 * server's writes.
 */
const chunkBytes = 32 << 10;
const bytesPerSecond = 12 << 20;

const [dir = ""] = process.argv.slice(2);
const standardOutput = 1;
const write = promisify(writeTo);
const sync = promisify(fdatasync);

async function main(): Promise<BackupSummary> {
  let summary: BackupSummary | undefined;
  const isFile = fstatSync(standardOutput).isFile();
  let pieces: Buffer[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const since = performance.now();
    for (let chunk = Buffer.concat(pieces); chunk.length > 0; )
      chunk = chunk.subarray((await write(standardOutput, chunk)).bytesWritten);
    if (isFile) await sync(standardOutput);
    const leftMs = (bytes / bytesPerSecond) * 1000 - (performance.now() - since);
    if (leftMs > 0) await sleep(leftMs);
    pieces = [];
    bytes = 0;
  };
  for await (const piece of backupPieces(dir, Date.now(), (result) => (summary = result))) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= chunkBytes) await flush();
  }
  await flush();
  return summary as BackupSummary;
}

let outcome: BackupOutcome;
try {
  outcome = { summary: await main() };
} catch (error) {
  outcome = { error: error instanceof Error ? error.message : String(error) };
  process.exitCode = 1;
}
process.stderr.write(`${JSON.stringify(outcome)}\n`);
