/** Waits for a condition. */
import { reportRequests } from "./report-requests.ts";
import { runnerLimitMs } from "./runner-limit.ts";
import { currentTest, type RunningTest, type Wait } from "./running-tests.ts";
import type { Timeline } from "./timeline/contract.ts";

/** Options of {@link eventually}. */
export interface EventuallyOptions {
  /**
   * How long it waits, in milliseconds. By default ten seconds; where the test runner has a limit for a test, until shortly
   * before that, and at most 30 seconds. It never waits longer than the runner.
   */
  readonly timeoutMs?: number;
  /** The longest pause between two checks, in milliseconds; 100 by default. The first pauses are shorter. */
  readonly intervalMs?: number;
  /** Whose requests the error shows; by default those of the server of `useTestServer`. */
  readonly server?: { readonly timeline: Timeline };
}

const expired = Symbol("expired");
const firstPauseMs = 2;
const intervalMsDefault = 100;
const defaultMs = 10_000;
const defaultMsMax = 30_000;
/** How much longer a wait may take on a busy machine. */
const lateMsMax = 20_000;
/** What is left to the runner, to report the failure. */
const marginMs = 300;
const marginShare = 0.06;

/**
 * Repeats a check until it passes, which is when it neither throws nor returns `false`.
 *
 * @returns what the check returned
 * @throws Error with the last failure as its cause, when the check does not pass in time
 * @throws TypeError when the check is no function
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
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  if (typeof check !== "function") throw new TypeError("eventually needs a function that checks something");
  const test = currentTest();
  const waiting = new Waiting(options, test, test === undefined ? runnerLimitMs() : test.limitMs);
  test?.waits.add(waiting);
  try {
    return await repeat(check, waiting, options.intervalMs ?? intervalMsDefault);
  } finally {
    test?.waits.delete(waiting);
  }
}

/**
 * As {@link eventually}, whatever limit a test has.
 * @throws Error with the last failure as its cause, when the check does not pass in time
 */
export function waitUntil<T>(check: () => T | Promise<T>, timeoutMs: number): Promise<Exclude<T, false>> {
  return repeat(check, new Waiting({ timeoutMs }, undefined, undefined), intervalMsDefault);
}

async function repeat<T>(
  check: () => T | Promise<T>,
  waiting: Waiting,
  intervalMs: number,
): Promise<Exclude<T, false>> {
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    waiting.checks++;
    try {
      const result = await within(Promise.resolve(check()), waiting);
      if (result === expired) throw waiting.notInTime();
      if (result !== false) return result as Exclude<T, false>;
      waiting.failure = new Error("the check returned false");
    } catch (error) {
      if (error instanceof NotInTime) throw error;
      waiting.failure = error;
    }
    const remainingMs = waiting.remainingMs();
    if (remainingMs <= 0) throw waiting.notInTime();
    await waiting.pause(Math.min(pauseMs, intervalMs, remainingMs));
  }
}

/** A wait, and what its error says. */
class Waiting implements Wait {
  readonly #timeoutMs: number;
  readonly #stopped = Promise.withResolvers<typeof expired>();
  readonly stopped = this.#stopped.promise;
  #end: number;
  /** The end after all pauses that took longer. */
  #endMax: number;
  /** That of the test, if it ends the wait. */
  readonly #limitMs: number | undefined;
  readonly #report: (() => string) | undefined;
  checks = 0;
  failure: unknown = new Error("the check did not end");

  constructor({ timeoutMs, server }: EventuallyOptions, test: RunningTest | undefined, limitMs: number | undefined) {
    const now = performance.now();
    // Without a fixture, the begin of the test is not known.
    const startedAt = test?.startedAt ?? now - (limitMs ?? 0) * unknownShare;
    const leftMs = limitMs === undefined ? undefined : startedAt + limitMs - marginOf(limitMs) - now;
    const desiredMs = timeoutMs ?? (leftMs === undefined ? defaultMs : defaultMsMax);
    this.#limitMs = leftMs !== undefined && leftMs < desiredMs ? limitMs : undefined;
    this.#timeoutMs = Math.max(0, Math.round(Math.min(desiredMs, leftMs ?? desiredMs)));
    this.#end = now + this.#timeoutMs;
    this.#endMax = now + Math.min(leftMs ?? Number.POSITIVE_INFINITY, this.#timeoutMs + lateMsMax);
    this.#report = server === undefined ? test?.report : () => reportRequests(server.timeline);
  }

  remainingMs(): number {
    return this.#end - performance.now();
  }

  /** A pause that takes longer, because the machine is busy, does not shorten the wait, unless the test must end. */
  async pause(ms: number): Promise<void> {
    const before = performance.now();
    await new Promise((resolve) => setTimeout(resolve, ms));
    const lateMs = Math.max(0, performance.now() - before - ms);
    this.#end = Math.min(this.#end + lateMs, this.#endMax);
  }

  stop(): void {
    this.#endMax = 0;
    this.#end = 0;
    this.#stopped.resolve(expired);
  }

  describe(): string {
    const last = this.failure instanceof Error ? this.failure.message : String(this.failure);
    const checked = `did not pass within ${this.#timeoutMs} ms, in ${this.checks} checks. Last failure: ${last}`;
    const limit =
      this.#limitMs === undefined
        ? []
        : [`The test runner ends the test after ${this.#limitMs} ms; a longer timeout of the test gives more time.`];
    return [checked, ...limit, ...(this.#report === undefined ? [] : ["", this.#report()])].join("\n");
  }

  notInTime(): Error {
    return new NotInTime(this.describe(), { cause: this.failure });
  }
}

/** The share of the limit that has passed at most, where it is not known. */
const unknownShare = 0.15;

function marginOf(limitMs: number): number {
  return Math.max(marginMs, limitMs * marginShare);
}

class NotInTime extends Error {
  override name = "Error";
}

/** @returns {@link expired} when the result takes longer */
async function within<T>(result: Promise<T>, waiting: Waiting): Promise<T | typeof expired> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<typeof expired>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, waiting.remainingMs()), expired);
  });
  try {
    return await Promise.race([result, timeout, waiting.stopped]);
  } finally {
    clearTimeout(timer);
  }
}
