/**
 * Allocates the end of LMDB's file before LMDB writes there, so that a full disk shows here. LMDB would undo its transaction, too, but
 * lmdb-js 3.5.6 describes a refused write in 100 bytes that the text may overrun, and brings the process down (`mdb_page_flush` in its mdb.c).
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";

/** Allocated at once, unless more is needed: a quarter of the file, within these bounds. */
const stepBytesMin = 1 << 20;
const stepBytesMax = 16 << 20;
const zeros = Buffer.alloc(1 << 20);

export interface DiskReserveOptions {
  readonly path: string;
  /** The end of what LMDB uses of the file. */
  measure(): number;
  /** Called before the file is extended. */
  beforeExtending(): void;
}

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  /** Where the file ended when last looked at; LMDB may have gone on since. */
  #end: number;
  /** Not below the end of what LMDB uses, as far as it was announced. */
  #used: number;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#end = statSync(options.path).size;
    this.#used = this.#end;
  }

  /**
   * Makes sure that LMDB can write so many bytes. To be called before each write, not while one is under way.
   * @throws what the file system says, with code ENOSPC, EDQUOT, EFBIG, …
   */
  async ensure(bytes: number): Promise<void> {
    this.#used += bytes;
    if (this.#used <= this.#end) return;
    this.#used = this.#options.measure() + bytes;
    if (this.#used > this.#end) await this.#extend();
  }

  async #extend(): Promise<void> {
    this.#options.beforeExtending();
    // Opened for appending: the operating system puts zeros after whatever LMDB has written, never over it.
    const file = await open(this.#options.path, "a");
    try {
      this.#end = (await file.stat()).size;
      const step = Math.min(Math.max(this.#end / 4, stepBytesMin), stepBytesMax);
      const end = Math.max(this.#used, this.#end + Math.ceil(step));
      while (this.#end < end)
        this.#end += (await file.write(zeros, 0, Math.min(zeros.length, end - this.#end))).bytesWritten;
    } catch (error) {
      // A part may do.
      if (this.#used > this.#end) throw error;
    } finally {
      await file.close();
    }
  }
}
