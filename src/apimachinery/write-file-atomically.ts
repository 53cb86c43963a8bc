import { randomBytes } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";

/**
 * Writes a file through a temporary file, so that readers never see a part of it. No link is
 * followed, at the name of either file: another user of the directory may have placed it there.
 */
export async function writeFileAtomically(file: string, contents: string | Uint8Array, mode: number): Promise<void> {
  const temporary = temporaryFor(file);
  try {
    await writeFile(temporary, contents, { mode, flag: "wx", flush: true });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw withPath(error, file);
  }
}

/** As {@link writeFileAtomically}, while a process exits, and without waiting for the disk. */
export function writeFileAtomicallySync(file: string, contents: Uint8Array, mode: number): void {
  const temporary = temporaryFor(file);
  try {
    writeFileSync(temporary, contents, { mode, flag: "wx" });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw withPath(error, file);
  }
}

/** Errors of system calls that have a descriptor instead of a path, such as write, do not name the file. */
function withPath(error: unknown, file: string): unknown {
  return error instanceof Error && "syscall" in error ? Object.assign(error, { path: file }) : error;
}

/** A name that other users cannot predict, in the same directory. */
export function temporaryFor(file: string): string {
  return `${file}.${randomBytes(8).toString("hex")}.tmp`;
}
