/**
 * Checks the data file before LMDB writes, because LMDB continues to write into a file that was
 * removed, and because lmdb-js 3.5.6 formats the error of a failed page write into a buffer of 100
 * bytes that the text may overrun (`mdb_page_flush` in its mdb.c).
 */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";

/**
 * Length of a text that fits into the memory that glibc allocates for 100 bytes, without the
 * terminating zero.
 */
const errorTextMax = 103;
const zeros = Buffer.alloc(4096);

export class FileGuard {
  readonly #path: string;
  readonly #opened: Stats;

  constructor(path: string) {
    this.#path = path;
    this.#opened = statSync(path);
  }

  /**
   * Checks that the path still leads to the file that was opened. Takes a few microseconds.
   * @throws Error when it does not, or when the file is not writable. Clients see the message.
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
   * Writes and syncs a page that LMDB does not use, to detect a failing disk without LMDB. The
   * store must not be written during the call.
   * @param end the end of the part of the file that LMDB uses, in bytes
   * @throws Error with the file system's code: EIO, ENOSPC, EROFS, …
   */
  async probeDisk(end: number): Promise<void> {
    const file = await open(this.#path, "r+");
    try {
      await file.write(zeros, 0, zeros.length, end);
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

/** Returns whether lmdb-js has overrun its buffer when it formatted this error. */
export function hasOverrunMemory(error: unknown): boolean {
  const text = /Attempting to write page at position .*/s.exec(String(error))?.[0];
  return text !== undefined && text.length > errorTextMax;
}
