/** Tries a call again, after growing pauses. Source: k8s.io/apiserver, util/webhook (WithExponentialBackoff, DefaultShouldRetry); apimachinery's wait.Backoff */
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import { WebhookError } from "./contract.ts";

export interface Backoff {
  /** Before the second try. Each further pause is 1.5 times as long, and each gets up to a fifth on top by chance. */
  readonly initialDelayMs: number;
  readonly tries?: number;
  readonly clock?: Clock;
  /** 0 up to 1. */
  readonly random?: () => number;
  /** Once aborted, no pause is waited for: the last error is thrown. */
  readonly signal?: AbortSignal | undefined;
  readonly shouldRetry?: (error: unknown) => boolean;
}

const factor = 1.5;
const jitter = 0.2;

/** @returns what the first try that succeeds does @throws what the last one threw, or the first that need not be tried again */
export async function withBackoff<T>(backoff: Backoff, call: () => Promise<T>): Promise<T> {
  const { tries = 5, clock = systemClock, random = Math.random, signal, shouldRetry = isRetriable } = backoff;
  let delayMs = backoff.initialDelayMs;
  for (let left = tries; ; left--) {
    try {
      return await call();
    } catch (error) {
      if (left <= 1 || !shouldRetry(error) || signal?.aborted) throw error;
      await pause(delayMs * (1 + random() * jitter), clock, signal);
      if (signal?.aborted) throw error;
      delayMs *= factor;
    }
  }
}

const retriedReasons: ReadonlySet<string> = new Set(["InternalError", "Timeout", "TooManyRequests"]);

/** Connections that were reset, and answers that say 500, 504 or 429, or when to come again. */
export function isRetriable(error: unknown): boolean {
  if (!(error instanceof WebhookError)) return false;
  const { kind, status } = error;
  if (kind === "reset") return true;
  return status !== undefined && (retriedReasons.has(status.reason) || status.retryAfterSeconds > 0);
}

function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
