/** Lines into an open file, whole, whatever becomes of the writes. */
import { close, constants, fstatSync, openSync, readSync, write, writeSync } from "node:fs";
import type { Clock } from "../apimachinery/clock.ts";

/**
 * Opens a file to append to; a pipe, too, that nobody reads. A write to one that is full fails at once: a thread that waits there could not be stopped,
 * and would keep the process from ending.
 * @throws Error as the system tells it
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

/** How long to wait before what was full is tried again. */
const fullPauseMs = 50;

/** Every text handed over is whole lines. After a write that stopped half-way the next begins on a line of its own. */
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
    this.#isMidLine = this.isRegular && stat.size > 0 && lastByte(fd, stat.size) !== newline; // Who wrote before us may have been killed.
  }

  /** In bytes. */
  get size(): number {
    return this.#size;
  }

  bytesOf(text: string): Buffer {
    return Buffer.from(this.#isMidLine ? `\n${text}` : text);
  }

  /** Returns when the system has it. @throws Error as the system tells it */
  writeNow(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += this.#wrote(bytes, at, writeSync(this.#fd, bytes, at));
  }

  /** The same, without others waiting, and waits while it is full. One at a time. @throws Error as the system tells it, or when it was closed */
  async write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const written = await this.#tryWrite(bytes, at);
      if (this.#isClosed) throw new Error("the audit log was closed before the system took the events");
      if (written === "full") await new Promise<void>((resolve) => this.#clock.after(fullPauseMs, resolve));
      else at += this.#wrote(bytes, at, written);
    }
  }

  /** A write that hangs keeps the descriptor, which would otherwise be another file's. */
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
    close(this.#fd, () => {}); // What it says comes too late for the events.
  }

  #wrote(bytes: Buffer, at: number, written: number): number {
    this.#size += written;
    if (written > 0) this.#isMidLine = bytes[at + written - 1] !== newline;
    return written;
  }
}
