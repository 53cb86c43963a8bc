import { fileURLToPath } from "node:url";

/**
 * The command line of the program that takes backups, backup-main.ts. In the package, it is next to the bundle that contains this module. The single
 * executable replaces this module.
 */
export function backupCommand(dir: string): [program: string, ...args: string[]] {
  const program = new URL(import.meta.url.endsWith(".ts") ? "./backup-main.ts" : "./backup-main.js", import.meta.url);
  return [process.execPath, fileURLToPath(program), dir];
}
