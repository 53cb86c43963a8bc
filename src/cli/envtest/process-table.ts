/** Reads parents and command lines of running processes. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Both functions return undefined when there is no such process. */
export interface ProcessTable {
  readonly parentOf: (pid: number) => number | undefined;
  /** The arguments, separated by spaces. */
  readonly commandOf: (pid: number) => string | undefined;
}

/** Reads `/proc`, which Linux has. Source: proc_pid_stat(5), proc_pid_cmdline(5). */
export const procTable: ProcessTable = {
  parentOf(pid) {
    const stat = readProc(pid, "stat");
    // The name, in parentheses, can contain anything; the state and the parent follow.
    return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 1).split(" ", 3)[2]);
  },
  commandOf: (pid) => readProc(pid, "cmdline")?.replaceAll("\0", " "),
};

/** Runs `ps`, which macOS has. */
export const psTable: ProcessTable = {
  parentOf(pid) {
    const text = ps(pid, "ppid");
    return text === undefined ? undefined : Number(text);
  },
  commandOf: (pid) => ps(pid, "command"),
};

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
}

function ps(pid: number, column: string): string | undefined {
  const { stdout } = spawnSync("ps", ["-ww", "-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" });
  return stdout?.trim() || undefined;
}
