/**
 * Allocates disk space at the end of LMDB's file before LMDB writes there, so that a full disk is
 * detected here. LMDB would roll back its transaction, too, but lmdb-js 3.5.6 formats the error of
 * a failed write into a buffer of 100 bytes that the text may overrun, which crashes the process
 * (`mdb_page_flush` in its mdb.c).
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { SpaceNeed } from "./space-need.ts";

/** Each allocation is a quarter of the file, within these bounds, or more when more is needed. */
const stepBytesMin = 1 << 20;
const stepBytesMax = 16 << 20;
const zeros = Buffer.alloc(1 << 20);

interface DiskReserveOptions {
  readonly path: string;
  /** Returns the end of the part of the file that LMDB uses, in bytes. */
  measure(): number;
  /** Called before the file is extended. */
  beforeExtending(): void;
  /** Returns whether LMDB needs no more than the free pages of the file. Called when the file cannot be extended. */
  hasFreePages(need: SpaceNeed): Promise<boolean>;
}

/** Of a disk, a user's share of it, or a limit of the process. */
const fullCodes = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  /** The size of the file when it was last read; LMDB may have extended it since. */
  #end: number;
  /** An upper bound of the end of the part that LMDB uses. */
  #used: number;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#end = statSync(options.path).size;
    this.#used = this.#end;
  }

  /**
   * Ensures that LMDB can write what is needed. Call it before each write, never during one.
   * @throws Error of the file system, with code ENOSPC, EDQUOT, EFBIG, …
   */
  async ensure(need: SpaceNeed): Promise<void> {
    this.count(need);
    if (this.#used <= this.#end) return;
    this.#used = this.#options.measure() + need.bytes;
    if (this.#used <= this.#end) return;
    try {
      await this.#extend();
    } catch (error) {
      const isFull = fullCodes.has((error as NodeJS.ErrnoException).code ?? "");
      if (!isFull || !(await this.#options.hasFreePages(need))) throw error;
    }
  }

  /** Counts a write that may find the disk full. */
  count({ bytes }: SpaceNeed): void {
    this.#used += bytes;
  }

  async #extend(): Promise<void> {
    this.#options.beforeExtending();
    // In append mode the operating system writes the zeros at the end of the file, never over data
    // of LMDB.
    const file = await open(this.#options.path, "a");
    try {
      this.#end = (await file.stat()).size;
      const step = Math.min(Math.max(this.#end / 4, stepBytesMin), stepBytesMax);
      const end = Math.max(this.#used, this.#end + Math.ceil(step));
      while (this.#end < end)
        this.#end += (await file.write(zeros, 0, Math.min(zeros.length, end - this.#end))).bytesWritten;
    } catch (error) {
      // A part of the allocation may suffice.
      if (this.#used > this.#end) throw error;
    } finally {
      await file.close();
    }
  }
}
