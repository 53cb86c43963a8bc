/** Lets other requests run between the parts of long work. */
import { setImmediate } from "node:timers/promises";

/** How long work keeps the event loop, if a single part of it does not take longer. */
const heldMs = 5;

/** The pauses of one piece of work, such as the expressions of a request: a policy can select thousands of parameters. */
export class Pauses {
  readonly #now: () => number;
  #resumedAt: number;

  /** @param now returns a monotonic time in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#resumedAt = now();
  }

  /** @returns whether to call `pause` before the next part */
  isDue(): boolean {
    return this.#now() - this.#resumedAt >= heldMs;
  }

  /** Lets other requests run. */
  async pause(): Promise<void> {
    await setImmediate();
    this.#resumedAt = this.#now();
  }
}
