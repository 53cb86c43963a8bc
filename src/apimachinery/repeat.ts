/** Repetition at an interval. */
import type { Clock } from "./clock.ts";

/** @returns a function that ends the repetition */
export function repeat(clock: Clock, intervalMs: number, run: () => void): () => void {
  let cancel = (): void => {};
  const next = (): void => {
    cancel = clock.after(intervalMs, () => {
      run();
      next();
    });
  };
  next();
  return () => cancel();
}
