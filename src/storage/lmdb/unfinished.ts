/** The name under which a file or directory is written until it is complete. */
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Returns the name for this process, and removes files that killed processes left next to the path.
 * @throws Error when the directory cannot be read, or a remainder cannot be removed
 */
export function unfinishedPath(path: string): string {
  const prefix = `${basename(path)}.unfinished-`;
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    if (/^[1-9]\d{0,9}$/.test(pid) && !isOtherProcess(Number(pid)))
      rmSync(join(dirname(path), name), { recursive: true, force: true });
  }
  return join(dirname(path), `${prefix}${process.pid}`);
}

/** Returns whether another process has the id. A container may give the same id to each process. */
function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
