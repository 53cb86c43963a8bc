/** Lets other requests run between the expressions of one request. */
import { setImmediate } from "node:timers/promises";

/** How long expressions keep the event loop, if a single one does not take longer. */
const heldMs = 5;

/**
 * The pauses of one request: a policy can have many expressions, and a binding can select thousands
 * of parameters.
 */
export class Pauses {
  readonly #now: () => number;
  #resumedAt: number;

  /** @param now returns a monotonic time in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#resumedAt = now();
  }

  /** @returns undefined if evaluations can go on, else a promise to wait for */
  due(): Promise<void> | undefined {
    return this.#now() - this.#resumedAt < heldMs ? undefined : this.#pause();
  }

  async #pause(): Promise<void> {
    await setImmediate();
    this.#resumedAt = this.#now();
  }
}
