/** Timers whose errors do not end the process. */
import type { Clock } from "./clock.ts";

/**
 * Wraps a clock: an unexpected error of a timer, or of the promise that it returns, is reported, and
 * other timers are not affected.
 *
 * @param failed must not throw
 */
export function guardedClock(clock: Clock, failed: (error: unknown) => void): Clock {
  const { beginWork, real } = clock;
  return {
    now: () => clock.now(),
    after: (delayMs, run) => clock.after(delayMs, () => settled(run, failed)),
    ...(beginWork !== undefined && { beginWork: () => beginWork.call(clock) }),
    ...(real !== undefined && { real: guardedClock(real, failed) }),
  };
}

function settled(run: () => unknown, failed: (error: unknown) => void): unknown {
  try {
    const result = run();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    failed(error);
    return undefined;
  }
}
