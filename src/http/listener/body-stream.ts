/** An answer in pieces over any writable stream. */
import type { Writable } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import type { BodyStream } from "../contract.ts";

export interface WritableBodyOptions {
  readonly clock: Clock;
  /** How long the client may take for what is left once the body has ended; then it is aborted. */
  readonly lingerMs: number;
  readonly abort: () => void;
}

export class WritableBody implements BodyStream {
  readonly #sink: Writable;
  readonly #options: WritableBodyOptions;
  /** All that was written, taken by the socket or not. */
  writtenBytes = 0;

  constructor(sink: Writable, options: WritableBodyOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  get #gone(): boolean {
    return this.#sink.destroyed || this.#sink.writableEnded;
  }

  get pendingBytes(): number {
    return this.#sink.writableLength;
  }

  write(piece: Buffer, taken?: () => void): boolean {
    if (this.#gone) return true;
    this.writtenBytes += piece.length;
    return this.#sink.write(piece, taken && ((error) => error ?? taken()));
  }

  drained(): Promise<void> {
    return this.#gone ? Promise.resolve() : drained(this.#sink);
  }

  end(): void {
    if (this.#gone) return;
    const sink = this.#sink;
    sink.end();
    if (sink.writableLength > 0)
      sink.once(
        "close",
        this.#options.clock.after(this.#options.lingerMs, () => this.abort()),
      );
  }

  abort(): void {
    this.#options.abort();
  }
}

/** Resolves when the sink took what was written, or closed; the caller has made sure that it is open. */
export function drained(sink: Writable): Promise<void> {
  if (!sink.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      sink.off("drain", done).off("close", done);
      resolve();
    };
    sink.on("drain", done).on("close", done);
  });
}
