/**
 * The file `in-use` says whether a server has the store open, so that the next start detects a
 * server that did not close it.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../apimachinery/logger.ts";
import { writeFileAtomicallySync } from "../../apimachinery/write-file-atomically.ts";

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

/**
 * On a full disk, on which the server can read the store, the file is removed instead: the next start
 * then checks what it checks without a file.
 */
export function writeInUse(dir: string, state: InUse, logger: Logger | undefined): void {
  try {
    write(dir, state);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    removeInUse(dir);
    logger?.warn("Could not note that the store is in use", { dir, error: (error as Error).message });
  }
}

/** @throws Error of the file system; the file has the previous content then */
export function writeClosed(dir: string, { closedAs }: Closed): void {
  write(dir, `closed ${closedAs}`);
}

function write(dir: string, content: string): void {
  writeFileAtomicallySync(fileIn(dir), Buffer.from(content), 0o600);
}

export function removeInUse(dir: string): void {
  rmSync(fileIn(dir), { force: true });
}

function fileIn(dir: string): string {
  return join(dir, "in-use");
}
