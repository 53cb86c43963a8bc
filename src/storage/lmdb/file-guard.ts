/**
 * Checks, before LMDB writes, what LMDB does not check or does not survive. It writes on into a file that was removed, and lmdb-js 3.5.6
 * describes a failed write of a page in 100 bytes that the text may overrun (`mdb_page_flush` in its mdb.c).
 */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";

/** What fits into the memory that glibc hands out for 100 bytes, without the end of the string. */
const describedBytesMax = 103;
const zeros = Buffer.alloc(4096);

export class FileGuard {
  readonly #path: string;
  readonly #opened: Stats;

  constructor(path: string) {
    this.#path = path;
    this.#opened = statSync(path);
  }

  /**
   * Takes a few microseconds.
   * @throws Error when the path no longer leads to the file that was opened, or that cannot be written. Clients see the message.
   */
  check(): void {
    try {
      accessSync(this.#path, constants.W_OK);
      const { dev, ino } = statSync(this.#path);
      if (dev === this.#opened.dev && ino === this.#opened.ino) return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(
        code === "ENOENT"
          ? "the file of the store was removed or renamed"
          : `the file of the store cannot be written: ${code}`,
        {
          cause: error,
        },
      );
    }
    throw new Error("the file of the store was replaced by another one");
  }

  /**
   * Writes and syncs a page that LMDB does not use, so that a disk that fails is found without LMDB.
   * @param end the end of what LMDB uses; nothing else may write meanwhile
   * @throws Error with the file system's code: EIO, ENOSPC, EROFS, …
   */
  async rehearse(end: number): Promise<void> {
    const file = await open(this.#path, "r+");
    try {
      await file.write(zeros, 0, zeros.length, end);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

/** Whether lmdb-js has written over other memory when it made this message. */
export function hasOverrunMemory(error: unknown): boolean {
  const text = /Attempting to write page at position .*/s.exec(String(error))?.[0];
  return text !== undefined && text.length > describedBytesMax;
}
