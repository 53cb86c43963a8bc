/** Repetition at an interval. */
import type { Clock } from "./clock.ts";

/**
 * @param run can return a promise, which a virtual clock awaits
 * @returns a function that ends the repetition
 */
export function repeat(clock: Clock, intervalMs: number, run: () => unknown): () => void {
  let cancel = (): void => {};
  const next = (): void => {
    cancel = clock.after(intervalMs, () => {
      try {
        return run();
      } finally {
        next(); // Also when it throws.
      }
    });
  };
  next();
  return () => cancel();
}
