/**
 * The file `in-use` says whether a server has the store open, so that the next start detects a
 * server that did not close it.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `opening` while the server opens the store, `open` afterwards. */
type InUse = "opening" | "open";

interface Closed {
  /** The checksum of the index when the store was closed. */
  readonly closedAs: number;
}

/** @returns undefined when there is no file */
export function readInUse(dir: string): InUse | Closed | undefined {
  try {
    const text = readFileSync(fileIn(dir), "utf8");
    const closed = /^closed (\d{1,10})$/.exec(text);
    if (closed !== null) return { closedAs: Number(closed[1]) };
    return text === "opening" ? "opening" : "open";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export function writeInUse(dir: string, state: InUse): void {
  writeFileSync(fileIn(dir), state, { mode: 0o600 });
}

/** Replaces the file atomically, so that a crash leaves the previous content. */
export function writeClosed(dir: string, { closedAs }: Closed): void {
  const next = `${fileIn(dir)}.new`;
  writeFileSync(next, `closed ${closedAs}`, { mode: 0o600 });
  renameSync(next, fileIn(dir));
}

export function removeInUse(dir: string): void {
  rmSync(fileIn(dir), { force: true });
}

function fileIn(dir: string): string {
  return join(dir, "in-use");
}
