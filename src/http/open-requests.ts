/** The requests under way, so that they can be counted, timed out and drained. */
import type { Clock } from "../apimachinery/clock.ts";
import type { RequestContext } from "./contract.ts";
import { isLongRunning } from "./request-info.ts";

export interface OpenRequests {
  add(context: RequestContext): void;
  readonly size: number;
  /** Resolves when no request is open, or after so many milliseconds. */
  idle(withinMs: number): Promise<void>;
  close(): void;
}

/** How often it is looked for requests that took too long. */
export const requestSweepMs = 1000;

/** Upstream's writes may take no longer, whatever other requests may. */
const writeTimeoutMs = 34_000;
const writes: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/**
 * @param timeoutMs how long a request may take that is no watch and no connection kept open
 * @param expire answers a request that took longer
 */
export function openRequests(options: {
  clock: Clock;
  timeoutMs: number;
  expire: (context: RequestContext) => void;
}): OpenRequests {
  const open = new Set<RequestContext>();
  let waiting: (() => void)[] = [];
  let cancelSweep = options.clock.after(requestSweepMs, sweep);

  function sweep(): void {
    const now = options.clock.now();
    const shortest = Math.min(writeTimeoutMs, options.timeoutMs);
    for (const context of open) {
      if (context.receivedAt > now - shortest) break; // The set keeps the order of arrival.
      const { info, receivedAt, exchange } = context;
      const limit = info.isResourceRequest && writes.has(info.verb) ? shortest : options.timeoutMs;
      if (receivedAt <= now - limit && !isLongRunning(info) && !exchange.answered) options.expire(context);
    }
    cancelSweep = options.clock.after(requestSweepMs, sweep);
  }

  function remove(context: RequestContext): void {
    open.delete(context);
    if (open.size > 0) return;
    for (const wake of waiting) wake();
    waiting = [];
  }

  return {
    add(context) {
      open.add(context);
      context.exchange.onClose(() => remove(context));
    },
    get size() {
      return open.size;
    },
    idle(withinMs) {
      if (open.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = options.clock.after(withinMs, resolve);
        waiting.push(() => {
          cancel();
          resolve();
        });
      });
    },
    close: () => cancelSweep(),
  };
}
