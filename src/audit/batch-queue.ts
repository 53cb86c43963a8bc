/** Events that wait to be delivered, so that no request does. Source: upstream's plugin/pkg/audit/buffered. */
import type { Clock } from "../apimachinery/clock.ts";
import type { BatchOptions } from "./contract.ts";

export interface BatchQueue {
  /** Takes an event as text, or drops and counts it when the queue is full. */
  add(text: string): void;
  /** Resolves when everything that waits is delivered, could not be, or {@link closeMsMax} are over. */
  close(): Promise<void>;
}

export interface Delivery {
  /** What metrics call it. */
  readonly plugin: string;
  /** Batches that may be under way at a time. */
  readonly atOnceMax: number;
  /** Characters that a batch may have, whatever number of events that is; a longer event goes alone. */
  readonly batchCharactersMax: number;
  /** Whether batches go together that no throttle holds back. */
  readonly joinsBatches: boolean;
  /** @param ending from when on there is no time to wait and try again @throws Error: the events are lost */
  deliver(texts: readonly string[], ending: AbortSignal): Promise<void>;
}

export interface BatchQueueOptions extends BatchOptions {
  readonly clock: Clock;
  lost(plugin: string, why: string, events: number): void;
}

/** Characters that may wait or be under way, beside the number of events, which says nothing of their size. */
const charactersMax = 64 << 20;
/** How long the end waits for what is left; a disk or a server that takes nothing must not hold it up. */
export const closeMsMax = 5000;

export function batchQueue(delivery: Delivery, options: BatchQueueOptions): BatchQueue {
  const { bufferSize, maxSize, maxWaitMs, clock, lost } = options;
  const throttle = options.throttleEnable ? tokenBucket(options.throttleQps, options.throttleBurst, clock) : undefined;
  const ending = new AbortController();
  const underWay = new Set<Promise<void>>();
  let waiting: string[] = [];
  let waitingCharacters = 0;
  let underWayEvents = 0;
  let underWayCharacters = 0;
  let emptying: Promise<void> | undefined;
  let due = false;
  /** What is left is counted already. */
  let givenUp = false;
  let cancelTimer: (() => void) | undefined;

  function takeBatch(): { texts: string[]; characters: number } {
    const most = throttle === undefined && delivery.joinsBatches ? waiting.length : maxSize;
    let count = 0;
    let characters = 0;
    while (count < most && count < waiting.length) {
      const { length } = waiting[count] as string;
      if (count > 0 && characters + length > delivery.batchCharactersMax) break;
      characters += length;
      count++;
    }
    const texts = waiting.slice(0, count);
    waiting = waiting.slice(count);
    waitingCharacters -= characters;
    return { texts, characters };
  }

  function start({ texts, characters }: ReturnType<typeof takeBatch>): void {
    underWayEvents += texts.length;
    underWayCharacters += characters;
    const one = delivery
      .deliver(texts, ending.signal)
      .catch((error: unknown) => {
        if (!givenUp) lost(delivery.plugin, messageOf(error), texts.length);
      })
      .finally(() => {
        underWay.delete(one);
        underWayEvents -= texts.length;
        underWayCharacters -= characters;
      });
    underWay.add(one);
  }

  async function empty(): Promise<void> {
    if (delivery.joinsBatches) await new Promise<void>((resolve) => setImmediate(resolve)); // What comes in one turn goes together.
    while (waiting.length >= maxSize || (waiting.length > 0 && (due || ending.signal.aborted))) {
      if (throttle !== undefined) await throttle(ending.signal);
      while (underWay.size >= delivery.atOnceMax) await Promise.race(underWay);
      if (givenUp) return;
      start(takeBatch());
    }
    due = false;
  }

  function wake(): void {
    if (emptying !== undefined) return;
    if (waiting.length < maxSize && !ending.signal.aborted && !due) {
      cancelTimer ??= clock.after(maxWaitMs, () => {
        cancelTimer = undefined;
        due = true;
        wake();
      });
      return;
    }
    emptying = empty().finally(() => {
      emptying = undefined;
      if (waiting.length > 0 && !givenUp) wake();
    });
  }

  async function emptied(): Promise<void> {
    while (!givenUp && (waiting.length > 0 || emptying !== undefined || underWay.size > 0)) {
      if (waiting.length > 0) wake();
      await emptying;
      await Promise.all(underWay);
    }
  }

  return {
    add(text) {
      if (ending.signal.aborted) return lost("buffered", "audit backend shut down", 1);
      if (waiting.length >= bufferSize || waitingCharacters + underWayCharacters + text.length > charactersMax)
        return lost("buffered", "audit buffer queue blocked", 1);
      waiting.push(text);
      waitingCharacters += text.length;
      wake();
    },
    async close() {
      ending.abort();
      cancelTimer?.();
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(closeMsMax, resolve);
      await Promise.race([emptied(), late]);
      cancel();
      givenUp = true;
      const left = waiting.length + underWayEvents;
      if (left > 0) lost(delivery.plugin, "the server ended before they were taken", left);
    },
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Waits, or less long when there is no time for that. */
export function pause(ms: number, ending: AbortSignal, clock: Clock): Promise<void> {
  if (ending.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      ending.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    ending.addEventListener("abort", done);
  });
}

/** @returns waits for the next token, which at the end there is no time for */
function tokenBucket(perSecond: number, burst: number, clock: Clock): (ending: AbortSignal) => Promise<void> {
  let tokens = burst;
  let filledAt = clock.now();
  const fill = (): void => {
    tokens = Math.min(burst, tokens + ((clock.now() - filledAt) / 1000) * perSecond);
    filledAt = clock.now();
  };
  return async (ending) => {
    for (fill(); tokens < 1 && !ending.aborted; fill())
      await pause(Math.ceil(((1 - tokens) / perSecond) * 1000), ending, clock);
    tokens -= 1;
  };
}
