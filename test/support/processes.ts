/** CPU time and memory of processes that are not children of Node. Source: proc(5). */
import { readdirSync, readFileSync } from "node:fs";

/** User and system CPU time of the threads that a process has, in milliseconds. Ended threads do not count. */
export function cpuMsOf(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) nanoseconds += Number(schedstatOf(pid, thread).split(" ")[0]);
  return nanoseconds / 1e6;
}

/** Empty for a thread that has ended meanwhile. */
function schedstatOf(pid: number, thread: string): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || (error as NodeJS.ErrnoException).code === "ESRCH")
      return "";
    throw error;
  }
}

/** Resident memory of a process, in MiB. @param field `VmRSS` now, `VmHWM` at most so far */
export function residentMiB(pid: number, field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const text = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1]) / 1024;
}
