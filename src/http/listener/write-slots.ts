/**
 * Limits how many pieces of responses wait on one HTTP/2 connection. Node encrypts and sends all
 * that its streams have written in one step, as soon as the socket accepts more: with a piece of
 * each of hundreds of streams, this step would take long, and delay all other requests.
 */
import type { Clock } from "../../apimachinery/clock.ts";

/** Pieces that wait for the socket at a time: one is sent while another one is encoded. */
const slotsMax = 2;
/**
 * While no piece is accepted, another stream may write after this time. If the socket accepts it,
 * only the clients of the streams before it do not read.
 */
const probeMs = 100;

/** The right to write one piece. */
export interface WriteSlot {
  /** The piece is written. */
  written(): void;
  /** The socket has accepted the piece, or the stream has closed. */
  release(): void;
}

/** The slots of one connection. */
export class WriteSlots {
  readonly #clock: Clock;
  /** Slots in use; those with a piece in the order in which pieces were written. */
  readonly #used = new Set<object>();
  readonly #waiting: (() => void)[] = [];
  #cancelProbe: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns a slot, or a promise of one when the slots are used */
  take(): WriteSlot | Promise<WriteSlot> {
    if (this.#used.size < slotsMax && this.#waiting.length === 0) return this.#use();
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(this.#use()));
      this.#probeLater();
    });
  }

  #use(): WriteSlot {
    const key = {};
    this.#used.add(key);
    let isWritten = false;
    return {
      written: () => {
        isWritten = true;
        if (this.#used.delete(key)) this.#used.add(key);
      },
      release: () => {
        if (!this.#used.has(key)) return;
        if (isWritten) this.#forgetStalled(key);
        this.#used.delete(key);
        this.#grant();
      },
    };
  }

  /** The pieces before an accepted one wait for their clients to read, not for the socket. */
  #forgetStalled(accepted: object): void {
    for (const key of this.#used) {
      if (key === accepted) return;
      this.#used.delete(key);
    }
  }

  #grant(): void {
    while (this.#used.size < slotsMax && this.#waiting.length > 0) this.#waiting.shift()?.();
    this.#cancelProbe?.();
    this.#cancelProbe = undefined;
    if (this.#waiting.length > 0) this.#probeLater();
  }

  #probeLater(): void {
    this.#cancelProbe ??= this.#clock.after(probeMs, () => {
      this.#cancelProbe = undefined;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#probeLater();
    });
  }
}
