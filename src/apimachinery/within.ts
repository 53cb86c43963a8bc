/** Time limits of work that cannot be cancelled. */
import { type Clock, realClock } from "./clock.ts";

/**
 * Waits for work, which goes on when the time is over.
 * @param onTimeout called when the time is over first
 * @returns the result; undefined when the time is over first
 */
export async function within<T>(
  clock: Clock,
  timeoutMs: number,
  work: Promise<T>,
  onTimeout?: () => void,
): Promise<T | undefined> {
  let cancel = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = realClock(clock).after(timeoutMs, () => {
      onTimeout?.();
      resolve(undefined);
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
