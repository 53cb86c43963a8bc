/** An answer in pieces over any writable stream. */
import type { Writable } from "node:stream";
import type { BodyStream } from "../contract.ts";

export class WritableBody implements BodyStream {
  readonly #sink: Writable;
  readonly #abort: () => void;
  /** All that was written, taken by the socket or not. */
  writtenBytes = 0;

  constructor(sink: Writable, abort: () => void) {
    this.#sink = sink;
    this.#abort = abort;
  }

  get #gone(): boolean {
    return this.#sink.destroyed || this.#sink.writableEnded;
  }

  get pendingBytes(): number {
    return this.#sink.writableLength;
  }

  write(piece: Buffer): boolean {
    if (this.#gone) return true;
    this.writtenBytes += piece.length;
    return this.#sink.write(piece);
  }

  drained(): Promise<void> {
    const sink = this.#sink;
    if (this.#gone || !sink.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        sink.off("drain", done).off("close", done);
        resolve();
      };
      sink.on("drain", done).on("close", done);
    });
  }

  end(): void {
    if (!this.#gone) this.#sink.end();
  }

  abort(): void {
    this.#abort();
  }
}
