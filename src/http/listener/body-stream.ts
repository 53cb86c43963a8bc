/** A response in pieces, over any writable stream. */
import type { Writable } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import type { BodyStream } from "../contract.ts";

/** Options of a body. */
interface WritableBodyOptions {
  readonly clock: Clock;
  /**
   * How long the client may take to read the remainder after the end; then the response is aborted.
   */
  readonly lingerMs: number;
  readonly abort: () => void;
}

/** A body over a writable stream. */
export class WritableBody implements BodyStream {
  readonly #sink: Writable;
  readonly #options: WritableBodyOptions;
  /** All bytes written, whether or not the socket has accepted them. */
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

/** Resolves when the sink has accepted all data, or closed; the caller ensures that it is open. */
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
