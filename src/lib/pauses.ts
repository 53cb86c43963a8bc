/** Lets other requests run between the parts of long work. */
import { setImmediate } from "node:timers/promises";

/** How long work keeps the event loop, if a single part of it does not take longer. */
const heldMs = 5;

/** The pauses of one piece of work, such as the expressions of a request: a policy can select thousands of parameters. */
export class Pauses {
  readonly #now: () => number;
  readonly #heldMs: number;
  #resumedAt: number;

  /** @param now returns a monotonic time in milliseconds */
  constructor(now = () => performance.now(), held = heldMs) {
    this.#now = now;
    this.#heldMs = held;
    this.#resumedAt = now();
  }

  /** @returns whether to call `pause` before the next part */
  isDue(): boolean {
    return this.#now() - this.#resumedAt >= this.#heldMs;
  }

  /** Lets other requests run. */
  async pause(): Promise<void> {
    await setImmediate();
    this.#resumedAt = this.#now();
  }
}

/** Lets other requests run when enough time has passed since it last did. */
export type Pause = () => Promise<void>;

/** @param held milliseconds for which work keeps the event loop @returns a function to call between parts */
export function createPause(held: number): Pause {
  const pauses = new Pauses(undefined, held);
  return async () => {
    if (pauses.isDue()) await pauses.pause();
  };
}

/** The bytes of an object whose steps take less than a millisecond each. */
const smallBytesMax = 32 << 10;
const objectHeldMs = 2;

/** @param bytes of a body or an object, whose steps take some milliseconds each if it is large @returns undefined for a small one */
export function pauseOf(bytes: number): Pause | undefined {
  return bytes <= smallBytesMax ? undefined : createPause(objectHeldMs);
}
