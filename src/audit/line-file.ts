/** Appends whole lines to an open file, also after failed writes. */
import { close, constants, fstatSync, openSync, readSync, write, writeSync } from "node:fs";
import { type Clock, realClock } from "../apimachinery/clock.ts";

/**
 * Opens a file or pipe for appending. Opening a pipe without a reader does not block, and a write
 * to a full pipe fails at once, because a blocked thread of the pool would keep the process from
 * exiting.
 *
 * @throws Error from the system call
 */
export function openForLines(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants;
  return openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
}

const newline = 0x0a;

function lastByte(fd: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(fd, byte, 0, 1, size - 1) === 1 ? byte[0] : undefined;
}

/** The delay before the next write to a full pipe. */
const fullPauseMs = 50;

/**
 * A file of lines. Every text must consist of whole lines. After a partial write, the next text
 * starts on a new line.
 */
export class LineFile {
  readonly #fd: number;
  readonly #clock: Clock;
  #size: number;
  readonly isRegular: boolean;
  #isMidLine = false;
  #isClosed = false;
  #writing = false;

  constructor(fd: number, clock: Clock) {
    this.#fd = fd;
    this.#clock = clock;
    const stat = fstatSync(fd);
    this.#size = stat.size;
    this.isRegular = stat.isFile();
    // The previous process may have been killed during a write.
    this.#isMidLine = this.isRegular && stat.size > 0 && lastByte(fd, stat.size) !== newline;
  }

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  /** @returns the bytes to write: the text, after a newline when the file ends within a line */
  bytesOf(text: string): Buffer {
    return Buffer.from(this.#isMidLine ? `\n${text}` : text);
  }

  /** Writes synchronously. @throws Error from the system call */
  writeNow(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += this.#recordWrite(bytes, at, writeSync(this.#fd, bytes, at));
  }

  /**
   * Writes without blocking the event loop, and waits while a pipe is full. Callers make one call
   * at a time.
   *
   * @throws Error from the system call, or when the file was closed
   */
  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const written = await this.#tryWrite(bytes, at);
      if (this.#isClosed) throw new Error("the audit log was closed before all events were written");
      if (written === "full") await new Promise<void>((resolve) => realClock(this.#clock).after(fullPauseMs, resolve));
      else at += this.#recordWrite(bytes, at, written);
    }
  }

  /**
   * Closes the file, after the current write: the descriptor could be reused for another file
   * before that.
   */
  close(): void {
    this.#isClosed = true;
    if (!this.#writing) this.#release();
  }

  #tryWrite(bytes: Buffer, at: number): Promise<number | "full"> {
    if (this.#isClosed) return Promise.resolve("full");
    this.#writing = true;
    return new Promise((resolve, reject) => {
      write(this.#fd, bytes, at, (error, count) => {
        this.#writing = false;
        if (this.#isClosed) this.#release();
        if (error === null) resolve(count);
        else if (error.code === "EAGAIN") resolve("full");
        else reject(error);
      });
    });
  }

  #release(): void {
    close(this.#fd, () => {}); // No events depend on an error here.
  }

  #recordWrite(bytes: Buffer, at: number, written: number): number {
    this.#size += written;
    if (written > 0) this.#isMidLine = bytes[at + written - 1] !== newline;
    return written;
  }
}
