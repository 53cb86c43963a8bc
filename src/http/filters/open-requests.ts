/** Tracks open requests, to count them, time them out and wait for their end at shutdown. */

import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { type ApiError, RequestTimeout } from "../../apimachinery/errors.ts";
import { LinkedList } from "../../lib/linked-list/linked-list.ts";
import type { Filter, RequestState } from "../../request/context.ts";
import { requestSweepMs } from "../../request/lifetime.ts";
import type { RequestContext } from "../contract.ts";
import { hasTimeLimit, requestTimedOut, writes } from "./timeout-parameter.ts";

/** The open requests of a server. */
export interface OpenRequests {
  /** Adds each request until it is answered or its client disconnects. */
  readonly filter: Filter<RequestContext>;
  readonly size: number;
  /**
   * Resolves when no request is open, or after this many milliseconds. Does not wait for connections
   * that have changed their protocol, such as those of exec: like upstream, they end with the server.
   */
  idle(withinMs: number): Promise<void>;
  close(): void;
}

/** Upstream's limit for writes, regardless of the general timeout. */
const writeTimeoutMs = 34_000;

/**
 * @param timeoutMs the limit for requests that are neither watches nor connections
 * @param expire answers a request beyond its limit
 */
export function openRequests(options: {
  clock: Clock;
  timeoutMs: number;
  expire: (context: RequestContext, error: ApiError) => void;
}): OpenRequests {
  const open = new LinkedList<RequestContext>();
  /** Those that have a limit. */
  const limited = new LinkedList<RequestContext>();
  let idleCallbacks: (() => void)[] = [];
  let cancelSweep: (() => void) | undefined;

  function sweep(): void {
    cancelSweep = undefined;
    const now = options.clock.now();
    const shortest = Math.min(writeTimeoutMs, options.timeoutMs);
    for (const context of limited) {
      if (context.receivedAt > now - shortest) break;
      const { info, receivedAt, exchange, resolved } = context;
      // Writes of resources that other servers serve have the general limit.
      const limit = resolved !== undefined && writes.has(info.verb) ? shortest : options.timeoutMs;
      if (receivedAt > now - limit || exchange.answered) continue;
      options.expire(context, limit < options.timeoutMs ? requestTimedOut(info.verb) : new RequestTimeout());
    }
    if (limited.size > 0) sweepLater();
  }

  function sweepLater(): void {
    cancelSweep ??= options.clock.after(requestSweepMs, sweep);
  }

  function wakeWhenIdle(): void {
    if (idleCallbacks.length === 0 || !isIdle()) return;
    for (const wake of idleCallbacks) wake();
    idleCallbacks = [];
  }

  function isIdle(): boolean {
    return [...open].every(isConnection);
  }

  return {
    filter(context) {
      const member = open.add(context);
      const limitedMember = hasTimeLimit(context) ? limited.add(context) : undefined;
      if (limitedMember !== undefined) sweepLater();
      context.exchange.onClose(() => {
        open.remove(member);
        if (limitedMember !== undefined) limited.remove(limitedMember);
        wakeWhenIdle();
      });
    },
    get size() {
      return open.size;
    },
    idle(withinMs) {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = realClock(options.clock).after(withinMs, resolve);
        idleCallbacks.push(() => {
          cancel();
          resolve();
        });
      });
    },
    close: () => cancelSweep?.(),
  };
}

/** Watches over WebSockets have their own end. */
function isConnection({ exchange, info }: RequestState): boolean {
  return exchange.upgrade !== undefined && info.verb !== "watch";
}
