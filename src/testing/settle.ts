/** Waits until the work that a timer has started is done. */

/** Counts work, and waits for its end. */
export interface Settler {
  /** @returns a function that reports the end; further calls have no effect */
  beginWork(): () => void;
  /**
   * Resolves when no work is running and none has begun for some turns of the event loop, or after a
   * second of real time: the work may itself wait for a later timer. After a wait that was too long
   * the next ones are shorter, so that the sum is bounded, too.
   */
  settle(): Promise<void>;
}

/**
 * Turns of the event loop without new work: a commit is delivered to the watchers in the next turn,
 * and they start their work then.
 */
const quietTurns = 3;
const patienceMsMax = 1_000;
const patienceMsMin = 1;

/** @returns a settler without work */
export function settler(): Settler {
  let [running, begun] = [0, 0];
  let patienceMs = patienceMsMax;
  return {
    beginWork() {
      running += 1;
      begun += 1;
      let ended = false;
      return () => {
        if (!ended) running -= 1;
        ended = true;
      };
    },
    async settle() {
      const until = performance.now() + patienceMs;
      for (let quiet = 0; quiet < quietTurns; ) {
        const before = begun;
        await new Promise((resolve) => setImmediate(resolve));
        quiet = running === 0 && begun === before ? quiet + 1 : 0;
        if (quiet === 0 && performance.now() > until) {
          patienceMs = Math.max(patienceMs / 2, patienceMsMin);
          return;
        }
      }
      patienceMs = patienceMsMax;
    },
  };
}
