/** Timers in the order of their times: the core of the clocks for tests. */

/** A timer that has not fired. */
export interface Timer {
  /** Milliseconds since 1970. */
  readonly at: number;
  run(): unknown;
}

/** Pending timers. Timers of equal times fire in the order of their creation. */
export interface TimerQueue {
  /** The number of pending timers. */
  readonly size: number;
  /** @returns a function that removes the timer */
  add(timer: Timer): () => void;
  /** Removes the first timer that is due. @returns undefined when none is */
  takeDue(now: number): Timer | undefined;
}

/** @returns an empty queue */
export function timerQueue(): TimerQueue {
  const timers: Timer[] = [];
  return {
    get size() {
      return timers.length;
    },
    add(timer) {
      timers.splice(indexAfter(timers, timer.at), 0, timer);
      return () => {
        for (let index = indexAfter(timers, timer.at) - 1; timers[index]?.at === timer.at; index--) {
          if (timers[index] === timer) return void timers.splice(index, 1);
        }
      };
    },
    takeDue(now) {
      const [first] = timers;
      return first !== undefined && first.at <= now ? timers.shift() : undefined;
    },
  };
}

/** @returns the index of the first timer that is later */
function indexAfter(timers: readonly Timer[], at: number): number {
  let [low, high] = [0, timers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((timers[middle] as Timer).at <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
