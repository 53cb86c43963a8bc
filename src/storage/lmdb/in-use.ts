/** A file that says that a server has the store open, for the next one to find when that ended without closing it. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `opening` until the store has been opened. */
export type InUse = "opening" | "open";

/** @returns undefined when the last server closed the store */
export function readInUse(dir: string): InUse | undefined {
  try {
    return readFileSync(fileIn(dir), "utf8") === "opening" ? "opening" : "open";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export function writeInUse(dir: string, state: InUse): void {
  writeFileSync(fileIn(dir), state, { mode: 0o600 });
}

export function removeInUse(dir: string): void {
  rmSync(fileIn(dir), { force: true });
}

function fileIn(dir: string): string {
  return join(dir, "in-use");
}
