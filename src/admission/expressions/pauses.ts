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

  /** @returns whether to call `pause` before the next expression */
  isDue(): boolean {
    return this.#now() - this.#resumedAt >= heldMs;
  }

  /** Lets other requests run. */
  async pause(): Promise<void> {
    await setImmediate();
    this.#resumedAt = this.#now();
  }
}
