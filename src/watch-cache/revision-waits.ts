/** Reads that wait for a revision which a cache has not reached. */
import { type Clock, realClock } from "../apimachinery/clock.ts";
import { LinkedList } from "../lib/linked-list/linked-list.ts";

interface Waiter {
  readonly revision: number;
  readonly wake: () => void;
}

/** The waits of one cache. */
export class RevisionWaits {
  readonly #clock: Clock;
  readonly #waiters = new LinkedList<Waiter>();

  constructor(clock: Clock) {
    this.#clock = realClock(clock);
  }

  /**
   * Waits until the cache reaches the revision, or ends.
   * @returns false when neither happens in time
   */
  until(revision: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (woken: boolean): void => {
        this.#waiters.remove(member);
        cancel();
        resolve(woken);
      };
      const member = this.#waiters.add({ revision, wake: () => finish(true) });
      const cancel = this.#clock.after(timeoutMs, () => finish(false));
    });
  }

  /** Wakes those that wait for a revision up to this one. */
  reached(revision: number): void {
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.wake();
  }
}
