/** A clock for tests of single parts: timers fire synchronously. Servers have the `virtualClock` of the test kit. */
import type { Clock } from "../../src/apimachinery/clock.ts";
import { timerQueue } from "../../src/testing/timer-queue.ts";

export interface ManualClock extends Clock {
  /** Advances the time and runs due timers in order. */
  advance(ms: number): void;
}

export function manualClock(startMs = 1_000_000): ManualClock {
  let now = startMs;
  const timers = timerQueue();
  return {
    now: () => now,
    after: (delayMs, run) => timers.add({ at: now + delayMs, run }),
    advance(ms) {
      const end = now + ms;
      for (let timer = timers.takeDue(end); timer !== undefined; timer = timers.takeDue(end)) {
        now = Math.max(now, timer.at);
        timer.run();
      }
      now = end;
    },
  };
}
