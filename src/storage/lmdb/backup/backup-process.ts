/**
 * Takes backups in a process of their own: they leave the event loop alone, give way to the server, and a crash of the native library ends them only.
 */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { BackupSummary } from "./write-backup.ts";

export interface BackupProcess {
  /** The backup; empty when it goes to a file. */
  readonly output: Readable;
  /** @throws Error that says why there is no whole backup */
  readonly finished: Promise<BackupSummary>;
  /** Ends it; does nothing once it has finished. */
  stop(): void;
}

/** What the process says at its end, on its standard error. */
export type BackupOutcome = { readonly summary: BackupSummary } | { readonly error: string };

/** Of what the process says; more would be a mistake. */
const outcomeBytesMax = 1 << 20;

/**
 * @param dir of the store
 * @param file descriptor to write to; if unset, the backup can be read from `output`
 */
export function startBackup(dir: string, file?: number): BackupProcess {
  // In the package it is beside the file that this one is bundled into.
  const program = new URL(import.meta.url.endsWith(".ts") ? "./backup-main.ts" : "./backup-main.js", import.meta.url);
  const child = spawn(process.execPath, [fileURLToPath(program), dir], { stdio: ["ignore", file ?? "pipe", "pipe"] });
  // At once: the start of a process takes as much of a processor as the backup does.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const finished = new Promise<BackupSummary>((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (said.length < outcomeBytesMax) said += text;
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const outcome = parseOutcome(said);
      if (outcome !== undefined && "summary" in outcome && code === 0) resolve(outcome.summary);
      else if (outcome !== undefined && "error" in outcome) reject(new Error(outcome.error));
      else
        reject(
          new Error(
            `the process that took the backup ended with ${signal ?? `code ${code}`} before it was done${said === "" ? "" : `: ${said}`}`,
          ),
        );
    });
  });
  // Callers that stop it may not wait for its end.
  finished.catch(() => {});
  return { output: child.stdout ?? Readable.from([]), finished, stop: () => void child.kill("SIGKILL") };
}

function parseOutcome(text: string): BackupOutcome | undefined {
  const last = text.trimEnd().split("\n").at(-1) as string;
  return last.startsWith("{") ? (JSON.parse(last) as BackupOutcome) : undefined;
}
