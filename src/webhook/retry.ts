/**
 * Retries calls with exponential backoff.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/webhook.go, WithExponentialBackoff.
 */
import { type Clock, realClock, systemClock } from "../apimachinery/clock.ts";
import type { Lifetime } from "../request/lifetime.ts";
import { WebhookError } from "./contract.ts";

interface Backoff {
  /**
   * The delay before the second try. Each next delay is 1.5 times as long; each has up to 20 % of
   * jitter.
   */
  readonly initialDelayMs: number;
  readonly tries?: number;
  readonly clock?: Clock;
  /** Returns numbers from 0 up to, but not including, 1. */
  readonly random?: () => number;
  /** Its end also ends the delays: the last error is thrown. */
  readonly lifetime?: Lifetime | undefined;
  readonly shouldRetry?: (error: unknown) => boolean;
}

const factor = 1.5;
const jitter = 0.2;

/**
 * Calls until a try succeeds.
 *
 * @returns the result of the first successful try
 * @throws the error of the last try, or the first error that is not retriable
 */
export async function withBackoff<T>(backoff: Backoff, call: () => Promise<T>): Promise<T> {
  const { tries = 5, clock = systemClock, random = Math.random, lifetime, shouldRetry = isRetriable } = backoff;
  let delayMs = backoff.initialDelayMs;
  for (let left = tries; ; left--) {
    try {
      return await call();
    } catch (error) {
      if (left <= 1 || !shouldRetry(error) || lifetime?.isOver()) throw error;
      await pause(delayMs * (1 + random() * jitter), clock, lifetime);
      if (lifetime?.isOver()) throw error;
      delayMs *= factor;
    }
  }
}

const retriedReasons: ReadonlySet<string> = new Set(["InternalError", "Timeout", "TooManyRequests"]);

/**
 * Retriable are reset connections, the status codes 500, 504 and 429, and responses with
 * Retry-After.
 */
function isRetriable(error: unknown): boolean {
  if (!(error instanceof WebhookError)) return false;
  const { kind, status } = error;
  if (kind === "reset") return true;
  return status !== undefined && (retriedReasons.has(status.reason) || status.retryAfterSeconds > 0);
}

function pause(ms: number, clock: Clock, lifetime: Lifetime | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      forget?.();
      resolve();
    };
    const cancel = realClock(clock).after(ms, done);
    const forget = lifetime?.onEnd(done);
  });
}
