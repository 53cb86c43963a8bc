/** Runs the command of `coxswain test`, `record` and `replay`. */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { exitSignal } from "../exit-codes.ts";

/**
 * The exit code when this program fails, which commands rarely use. Source: timeout(1) of GNU
 * coreutils, which uses it for its own failures.
 */
export const exitOwnFailure = 125;
/** The exit code when the command cannot be executed. Source: POSIX, "Exit Status for Commands" of the shell. */
export const exitNotExecutable = 126;
/** The exit code when there is no such command. */
export const exitNotFound = 127;

const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

/**
 * Runs a command with the streams of this process, and passes signals on to it.
 *
 * @returns its exit code; 128 + n after signal n; {@link exitNotFound} or {@link exitNotExecutable},
 *   after a message, when it could not be started
 */
export async function runChild(
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  err: (text: string) => void,
): Promise<number> {
  const child = spawn(program, args, { stdio: "inherit", env });
  const stop = passSignals(child, process.stdin.isTTY === true);
  try {
    return await exitCodeOf(child);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    err(`Error: ${program} ${code === "ENOENT" ? "is not found" : `cannot be executed: ${message}`}\n`);
    return code === "ENOENT" ? exitNotFound : exitNotExecutable;
  } finally {
    stop();
  }
}

/**
 * A terminal sends SIGINT to all its processes: the command has it already.
 *
 * @returns ends it
 */
function passSignals(child: ChildProcess, isTerminal: boolean): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal !== "SIGINT" || !isTerminal) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

/** @throws Error when the command cannot be started */
function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      resolve(signal === null ? (code as number) : exitSignal + constants.signals[signal]),
    );
  });
}
