/** The requests that a storage engine waits for when it closes. */
import type { Clock } from "../../apimachinery/clock.ts";

/** `close` waits for requests so long. */
const closeMs = 10_000;

/** Counts requests. */
export class RequestsInProgress {
  #count = 0;
  #idle: (() => void) | undefined;

  get count(): number {
    return this.#count;
  }

  /** Runs a request. */
  async run<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    this.#count++;
    try {
      return await request();
    } finally {
      this.#count--;
      if (this.#count === 0) this.#idle?.();
    }
  }

  /** Waits for the requests, but not for a member that does not answer. */
  async ended(clock: Clock): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(closeMs, resolve);
      this.#idle = () => {
        cancel();
        resolve();
      };
    });
  }
}
