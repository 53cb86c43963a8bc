/** A response in pieces, over any writable stream. */

import type { Writable } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import { drained } from "../../request/drained.ts";
import type { BodyStream } from "../../request/exchange.ts";
import type { WriteSlot, WriteSlots } from "./write-slots.ts";

/** Options of a body. */
interface WritableBodyOptions {
  readonly clock: Clock;
  /**
   * How long the client may take to read the remainder after the end; then the response is aborted.
   */
  readonly lingerMs: number;
  readonly abort: () => void;
  /** The slots of a connection with several responses. */
  readonly slots?: WriteSlots;
}

/** A body over a writable stream. */
export class WritableBody implements BodyStream {
  readonly #sink: Writable;
  readonly #options: WritableBodyOptions;
  /** For the next write. */
  #slot: WriteSlot | undefined;
  /** Those that this response uses. */
  readonly #slots = new Set<WriteSlot>();
  #closes = false;
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
    const slot = this.#slot;
    this.#slot = undefined;
    if (slot === undefined) return this.#sink.write(piece, taken && ((error) => error ?? taken()));
    slot.written();
    return this.#sink.write(piece, (error) => {
      slot.release();
      this.#slots.delete(slot);
      if (!error) taken?.();
    });
  }

  reserve(): Promise<void> | undefined {
    const slot = this.#gone || this.#slot !== undefined ? undefined : this.#options.slots?.take();
    if (slot === undefined) return undefined;
    if (!(slot instanceof Promise)) return this.#hold(slot);
    return slot.then((granted) => this.#hold(granted));
  }

  unreserve(): void {
    const slot = this.#slot;
    if (slot === undefined) return;
    this.#slot = undefined;
    this.#slots.delete(slot);
    slot.release();
  }

  #hold(slot: WriteSlot): undefined {
    if (this.#gone) return void slot.release();
    this.#slot = slot;
    this.#slots.add(slot);
    if (this.#closes) return;
    this.#closes = true;
    this.#sink.once("close", () => {
      for (const one of this.#slots) one.release();
    });
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
