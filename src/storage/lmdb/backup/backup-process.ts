/**
 * Takes backups in a separate process, so that they do not block the event loop, run at low
 * priority, and cannot crash the server.
 */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { Readable } from "node:stream";
import type { StatePin } from "../../contract.ts";
import { backupCommand } from "./backup-command.ts";
import type { BackupSummary } from "./write-backup.ts";

interface BackupProcess {
  /** The backup; empty when it is written to a file. */
  readonly output: Readable;
  /** Rejects with the reason when the backup is incomplete. */
  readonly finished: Promise<BackupSummary>;
  /** Stops the process; has no effect after it has finished. */
  stop(): void;
}

/** The outcome that the process writes to its standard error. */
export type BackupOutcome = { readonly summary: BackupSummary } | { readonly error: string };

/** Maximum length of standard error that is kept. */
const outcomeBytesMax = 1 << 20;

/**
 * Starts a backup.
 * @param dir the directory of the store
 * @param pin of the store, taken before; released when the backup has ended
 * @param file the file descriptor to write to; when unset, the backup is in `output`
 */
export function startBackup(dir: string, pin: StatePin, file?: number): BackupProcess {
  const [program, ...args] = backupCommand(dir);
  const child = spawn(program, args, { stdio: ["ignore", file ?? "pipe", "pipe"] });
  // Immediately, because starting the process uses as much CPU time as the backup.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const ended = new Promise<BackupSummary>((resolve, reject) => {
    let output = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < outcomeBytesMax) output += text;
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const outcome = parseOutcome(output);
      if (outcome !== undefined && "summary" in outcome && code === 0) resolve(outcome.summary);
      else if (outcome !== undefined && "error" in outcome) reject(new Error(outcome.error));
      else
        reject(
          new Error(
            `the process that took the backup ended with ${signal ?? `code ${code}`} before it was done${output === "" ? "" : `: ${output}`}`,
          ),
        );
    });
  });
  const finished = ended.then(checkHeld).finally(() => pin.release());
  // Callers that stop the backup may not wait for `finished`.
  finished.catch(() => {});
  return { output: child.stdout ?? Readable.from([]), finished, stop: () => void child.kill("SIGKILL") };

  function checkHeld(summary: BackupSummary): BackupSummary {
    if (!pin.isHeld) throw new Error("the store was closed or reopened during the backup");
    return summary;
  }
}

function parseOutcome(text: string): BackupOutcome | undefined {
  const last = text.trimEnd().split("\n").at(-1) as string;
  return last.startsWith("{") ? (JSON.parse(last) as BackupOutcome) : undefined;
}
