/** A clock that tests control. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, nothingToDo, systemClock } from "../apimachinery/clock.ts";
import { parseDuration } from "../lib/duration/duration.ts";
import { settler } from "./settle.ts";
import { type Timer, timerQueue } from "./timer-queue.ts";

/** Options of a virtual clock. */
export interface VirtualClockOptions {
  /** The first time, as a Date or in milliseconds since 1970; the time of the operating system when unset. */
  readonly now?: number | Date;
}

/** A clock that is stopped until a test advances it. Several servers can share it. */
export interface VirtualClock extends Clock {
  /**
   * Moves the time forward, and fires the timers that become due in the order of their times. What
   * a timer starts in the servers ends before the next timer fires. A request that is sent afterwards
   * finds the state of the new time. Calls run one after another.
   *
   * @param span milliseconds, or the text of a Go duration such as `1h30m`
   * @throws RangeError when the span is negative, not a whole number of milliseconds, or ends after the
   *   year 9999
   * @throws DurationError when the text is not a duration
   * @throws EndlessTimersError when the timers do not end, such as those of an interval of 0
   * @throws the reason of the signal when it is aborted
   */
  advance(span: string | number, options?: AdvanceOptions): Promise<void>;
  /**
   * Moves the time forward to a time, like `advance`.
   *
   * @param time a Date, or milliseconds since 1970
   * @throws RangeError when the time is over
   */
  advanceTo(time: number | Date, options?: AdvanceOptions): Promise<void>;
}

/** Options of a move of a virtual clock. */
export interface AdvanceOptions {
  /** Stops the clock: an `AbortSignal`, of which only this method is used. */
  readonly signal?: { throwIfAborted(): void };
}

/** More timers fired than a clock allows. It has stopped at the time of the last one. */
export class EndlessTimersError extends Error {
  /** For the kit itself. */
  constructor(message: string) {
    super(message);
    this.name = "EndlessTimersError";
  }
}

/** Whether tests control the clock. */
export function isVirtualClock(clock: Clock): clock is VirtualClock {
  return "advanceTo" in clock;
}

/** The last time that RFC 3339 can express. */
const latest = Date.UTC(10_000, 0) - 1;
/** Timers that fire at one time. */
const firedAtOnceMax = 10_000;
/**
 * Timers with work that fire in one call of `advance`. Others need no limit: there are at most
 * {@link firedAtOnceMax} of them in each millisecond.
 */
const firedMax = 10_000_000;
/** Timers without work after which the event loop serves others. */
const turnAfter = 1000;

/**
 * Creates a clock that is stopped until the test advances it.
 *
 * @throws RangeError when the time is not between 1970 and 9999
 *
 * @example
 * ```ts
 * import { startTestServer, virtualClock } from "coxswain/testing";
 *
 * const clock = virtualClock({ now: new Date("2030-01-01T00:00:00Z") });
 * const server = await startTestServer({ clock });
 * await clock.advance("1h");
 * console.log(new Date(clock.now()).toISOString()); // 2030-01-01T01:00:00.000Z
 * await server.close();
 * ```
 */
export function virtualClock({ now: first = systemClock.now() }: VirtualClockOptions = {}): VirtualClock {
  const moment = { now: checkTime(Number(first)) };
  const timers = timerQueue();
  const work = settler();
  const { beginWork } = work;
  let isAdvancing = false;
  let isTurnPending = false;
  let earlier: Promise<unknown> = Promise.resolve();

  /** Fires a timer without a delay in the next turn: it does not wait until the time moves. */
  const fireDueLater = (): void => {
    if (isAdvancing || isTurnPending) return;
    isTurnPending = true;
    setImmediate(() => {
      isTurnPending = false;
      const timer = isAdvancing ? undefined : timers.takeDue(moment.now);
      if (timer === undefined) return;
      fireDueLater();
      void fireTimer(timer, beginWork);
    }).unref();
  };

  const inTurn = (endOf: () => number, signal: AdvanceOptions["signal"]): Promise<void> => {
    const done = earlier.then(async () => {
      signal?.throwIfAborted();
      const end = endOf();
      isAdvancing = true;
      await fireUpTo(end, moment, { timers, work, signal }).finally(() => {
        isAdvancing = false;
        fireDueLater();
      });
    });
    earlier = done.catch(() => {}); // The caller gets the error, and later calls are independent of it.
    return done;
  };

  return {
    now: () => moment.now,
    real: systemClock,
    beginWork,
    after(delayMs, run) {
      const at = moment.now + Math.ceil(Math.max(0, delayMs));
      if (at <= moment.now) fireDueLater();
      return timers.add({ at, run });
    },
    async advance(span, { signal } = {}) {
      const ms = spanOf(span);
      return inTurn(() => checkTime(moment.now + ms), signal);
    },
    async advanceTo(time, { signal } = {}) {
      const end = checkTime(Number(time));
      return inTurn(() => checkNotOver(end, moment.now), signal);
    },
  };
}

interface Running {
  readonly timers: ReturnType<typeof timerQueue>;
  readonly work: ReturnType<typeof settler>;
  readonly signal: AdvanceOptions["signal"];
}

/** Fires the timers up to the end, and those that they create. */
async function fireUpTo(
  end: number,
  time: { now: number },
  { timers, work: { beginWork, settle }, signal }: Running,
): Promise<void> {
  await settle(); // Work that began before can still create timers.
  let [fired, firedAtOnce, idle] = [0, 0, 0];
  for (let timer = timers.takeDue(end); timer !== undefined; timer = timers.takeDue(end)) {
    firedAtOnce = timer.at > time.now ? 1 : firedAtOnce + 1;
    time.now = Math.max(time.now, timer.at);
    if (await fireTimer(timer, beginWork)) {
      idle += 1;
      if (idle % turnAfter === 0) await nextTurn();
    } else {
      fired += 1;
      await settle();
    }
    checkEnds({ now: time.now, end, fired, firedAtOnce });
    signal?.throwIfAborted();
  }
  time.now = end;
  await settle();
}

/** @returns whether the timer has found nothing to do */
async function fireTimer(timer: Timer, beginWork: () => () => void): Promise<boolean> {
  const result = timer.run();
  if (!(result instanceof Promise)) return result === nothingToDo;
  void result.finally(beginWork());
  return (await beforeNextTurn(result)) === nothingToDo;
}

/** @returns the result of work that ends in this turn of the event loop; undefined if it goes on, or fails */
async function beforeNextTurn(result: Promise<unknown>): Promise<unknown> {
  let immediate: NodeJS.Immediate | undefined;
  const turn = new Promise<void>((resolve) => {
    immediate = setImmediate(resolve);
  });
  const first = await Promise.race([result.catch(() => undefined), turn]);
  clearImmediate(immediate);
  return first;
}

function spanOf(span: string | number): number {
  const ms = typeof span === "string" ? Number(parseDuration(span)) / 1e6 : span;
  if (Number.isInteger(ms) && ms >= 0) return ms;
  throw new RangeError(`a clock advances by a positive whole number of milliseconds, not ${JSON.stringify(span)}`);
}

function checkNotOver(end: number, now: number): number {
  if (end < now) throw new RangeError(`${format(end)} is before the time of the clock, ${format(now)}`);
  return end;
}

function checkTime(ms: number): number {
  if (Number.isInteger(ms) && ms >= 0 && ms <= latest) return ms;
  throw new RangeError(`the time of a clock must be between the years 1970 and 9999: ${ms} ms since 1970`);
}

interface Progress {
  readonly now: number;
  readonly end: number;
  readonly fired: number;
  readonly firedAtOnce: number;
}

/** @throws EndlessTimersError */
function checkEnds({ now, end, fired, firedAtOnce }: Progress): void {
  if (firedAtOnce >= firedAtOnceMax)
    throw new EndlessTimersError(
      `the clock stopped at ${format(now)}: ${firedAtOnce} timers fired at this time, without an end`,
    );
  if (fired >= firedMax)
    throw new EndlessTimersError(
      `the clock stopped at ${format(now)}: ${fired} timers fired, before it reached ${format(end)}`,
    );
}

function format(ms: number): string {
  return new Date(ms).toISOString();
}
