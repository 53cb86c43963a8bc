import type { Clock } from "../../src/apimachinery/clock.ts";

export interface ManualClock extends Clock {
  /** Advances the time and runs due timers in order. */
  advance(ms: number): void;
}

export function manualClock(startMs = 1_000_000): ManualClock {
  let now = startMs;
  const timers = new Set<{ at: number; run: () => void }>();
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
  };
}
