/** Files that a server keeps for later starts, and rewrites only when their contents change. */
import { lstatSync, readFileSync } from "node:fs";
import type { Logger } from "./logger.ts";
import { writeFileAtomically } from "./write-file-atomically.ts";

/** Content of a file, and its permissions. */
interface KeptFile {
  readonly contents: string;
  /** The permissions of a new file. An existing one that gives all users more is written again. */
  readonly mode: number;
}

/**
 * Writes a file unless it has these contents. A failure is logged as a warning, because the server can serve
 * without the file: the disk can be full or read-only.
 *
 * @returns whether the file has these contents
 */
export async function keepFile(file: string, kept: KeptFile, logger: Logger): Promise<boolean> {
  try {
    if (!isKept(file, kept)) await writeFileAtomically(file, kept.contents, kept.mode);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    logger.warn("Could not write a file, and continues without it", { file, error: (error as Error).message });
    return false;
  }
}

/** Links are replaced, because another user of the directory may have placed them there. */
function isKept(file: string, { contents, mode }: KeptFile): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size !== Buffer.byteLength(contents)) return false;
  const givesMore = process.platform !== "win32" && (found.mode & 0o007 & ~mode) !== 0;
  return !givesMore && readFileSync(file, "utf8") === contents;
}
