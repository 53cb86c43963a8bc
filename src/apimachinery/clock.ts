/** Time is an option: two servers share a process, and a test owns the clock. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after so many milliseconds, without keeping the process alive. @returns cancels */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** The second that was formatted last; it depends on nothing but its number. */
let lastSecond = Number.NaN;
let lastText = "";

/** RFC 3339, UTC, whole seconds: how `metav1.Time` is written. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}
