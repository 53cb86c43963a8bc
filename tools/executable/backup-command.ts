/** Replaces src/storage/lmdb/backup/backup-command.ts in the single executable. */
export const backupArgument = "run-backup";

export function backupCommand(dir: string): [program: string, ...args: string[]] {
  return [process.execPath, backupArgument, dir];
}
