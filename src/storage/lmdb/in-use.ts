/** A file that says whether a server has the store open, for the next one to find when that ended without closing it. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `opening` until the store has been opened. */
export type InUse = "opening" | "open";

export interface Closed {
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

/** In one step, so that a server that dies meanwhile leaves what was there. */
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
