import type { Lifetime } from "./contract.ts";

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
