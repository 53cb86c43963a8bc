/** The main module of the single executable: the command, or the program that takes backups, which the command runs as another process. */
import { backupArgument } from "./backup-command.ts";

if (process.argv[2] === backupArgument) {
  process.argv.splice(2, 1);
  await import("../../src/storage/lmdb/backup/backup-main.ts");
} else await import("../../src/main.ts");
