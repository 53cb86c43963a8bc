/** Waits for a condition. */

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /** How long it waits, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** The longest pause between two checks, in milliseconds; 100 by default. The first pauses are shorter. */
  readonly intervalMs?: number;
}

const firstPauseMs = 2;

/**
 * Repeats a check until it passes, which is when it neither throws nor returns `false`.
 *
 * @returns what the check returned
 * @throws Error with the last failure as its cause, when the check does not pass in time
 *
 * @example
 * ```ts
 * import { eventually } from "coxswain/testing";
 *
 * let replicas = 0;
 * setTimeout(() => { replicas = 3; }, 10);
 * console.log(await eventually(() => replicas > 0 && replicas)); // 3
 * ```
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 10_000, intervalMs = 100 }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const end = performance.now() + timeoutMs;
  let failure: unknown = new Error("the check did not end");
  for (let checks = 1, pauseMs = firstPauseMs; ; checks++, pauseMs *= 2) {
    try {
      const result = await within(Promise.resolve(check()), end - performance.now());
      if (result === expired) throw notInTime(timeoutMs, checks, failure);
      if (result !== false) return result as Exclude<T, false>;
      failure = new Error("the check returned false");
    } catch (error) {
      if (error instanceof NotInTime) throw error;
      failure = error;
    }
    const remainingMs = end - performance.now();
    if (remainingMs <= 0) throw notInTime(timeoutMs, checks, failure);
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, intervalMs, remainingMs)));
  }
}

class NotInTime extends Error {
  override name = "Error";
}

function notInTime(timeoutMs: number, checks: number, cause: unknown): Error {
  const last = cause instanceof Error ? cause.message : String(cause);
  return new NotInTime(`did not pass within ${timeoutMs} ms, in ${checks} checks. Last failure: ${last}`, { cause });
}

const expired = Symbol("expired");

/** @returns {@link expired} when the result takes longer */
async function within<T>(result: Promise<T>, timeoutMs: number): Promise<T | typeof expired> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<typeof expired>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, timeoutMs), expired);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
