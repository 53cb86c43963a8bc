/** The time as an option, so that tests control it and two servers can share a process. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls `run` once after the delay, without keeping the process alive.
   *
   * @param run can return a promise, which a virtual clock awaits
   * @returns a function that cancels the call
   */
  after(delayMs: number, run: () => unknown): () => void;
  /**
   * Reports work that has started: a virtual clock lets it end before the next timer fires. Other
   * clocks do not have this function.
   *
   * @returns a function that reports the end
   */
  beginWork?(): () => void;
  /**
   * The clock for waits that depend on something outside of the server, such as peers and files, and
   * for retries: a server must make progress while its time is stopped. This clock itself when
   * unset.
   */
  readonly real?: Clock;
}

/**
 * Is returned by a timer, or its promise, that has found nothing to do and has started nothing: a
 * virtual clock goes on with the next timer at once.
 */
export const nothingToDo: unique symbol = Symbol("nothing to do");

/** @returns the clock for waits that continue while the time of a test is stopped */
export function realClock(clock: Clock): Clock {
  return clock.real ?? clock;
}

/** The limit of Node.js, 24.8 days, beyond which a timer would fire at once. */
const delayMaxMs = 2 ** 31 - 1;

/** The clock of the operating system. A delay beyond 24.8 days ends then. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.min(delayMs, delayMaxMs)).unref();
    // Node.js keeps a list for each delay until it has passed, unless the cleared timer was ref'd:
    // a process in which many servers start and stop would keep one for each random delay.
    return () => clearTimeout(timer.ref());
  },
};

/**
 * The second that was formatted last and its text. The cache is pure: the text depends only on the
 * second.
 */
let lastSecond = Number.NaN;
let lastText = "";

/** @returns the time as `metav1.Time` is encoded: RFC 3339 in UTC with whole seconds */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/**
 * Formats a `metav1.MicroTime`: RFC 3339 in UTC with microseconds. The clock has a resolution of
 * one millisecond.
 */
export function formatMicroTime(ms: number): string {
  return `${formatTime(ms).slice(0, -1)}.${String(ms % 1000).padStart(3, "0")}000Z`;
}
