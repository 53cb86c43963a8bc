/** How long a request, or a call that it makes, exists. */

/** The interval between checks for timeouts. */
export const requestSweepMs = 1000;

/** How long the purpose of a call exists. Plain functions, because signals are expensive for each call. */
export interface Lifetime {
  isOver(): boolean;
  /** Calls `run` once at the end, but not if it is over already. @returns cancels that */
  onEnd(run: () => void): () => void;
}

/** The lifetime that ends when the signal aborts. */
export function untilAborted(signal: AbortSignal): Lifetime {
  return {
    isOver: () => signal.aborted,
    onEnd(run) {
      signal.addEventListener("abort", run, { once: true });
      return () => signal.removeEventListener("abort", run);
    },
  };
}

/** How long plugins can work on a request. */
export interface RequestLifetime extends Lifetime {
  /** When the time limit of the request ends, in milliseconds since 1970. */
  readonly endsAt: number;
}
