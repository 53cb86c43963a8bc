/** CPU time and memory of processes that are not children of Node. Source: proc(5). */
import { readFileSync } from "node:fs";

/** Kernel ticks per second, which Linux has fixed for programs. */
const ticksPerSecond = 100;

/** User and system CPU time of a process, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name of the program, in parentheses, can contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [fields[11], fields[12]].map(Number) as [number, number];
  return ((user + system) * 1000) / ticksPerSecond;
}

/** Resident memory of a process, in MiB. @param field `VmRSS` now, `VmHWM` at most so far */
export function residentMiB(pid: number, field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const text = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
}
