/**
 * Queues events so that requests do not wait for delivery.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/audit/buffered/buffered.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { BatchOptions } from "./contract.ts";

/** A bounded queue of formatted events. */
interface BatchQueue {
  /** Adds a formatted event. Drops and counts it when the queue is full. */
  add(text: string): void;
  /**
   * Resolves when all queued events are delivered or lost, at the latest after {@link closeMsMax}.
   */
  close(): Promise<void>;
}

/** Delivers batches of events. */
export interface Delivery {
  /** The name of the plugin in metrics. */
  readonly plugin: string;
  /** The maximum number of concurrent deliveries. */
  readonly atOnceMax: number;
  /** The maximum number of characters in a batch. A longer event is delivered alone. */
  readonly batchCharactersMax: number;
  /** Whether batches are merged when there is no throttle. */
  readonly joinsBatches: boolean;
  /**
   * @param ending aborts when the server stops; the delivery must not wait for retries any more
   * @throws Error when the events are lost
   */
  deliver(texts: readonly string[], ending: AbortSignal): Promise<void>;
}

interface BatchQueueOptions extends BatchOptions {
  readonly clock: Clock;
  /** Counts lost events. */
  lost(plugin: string, reason: string, events: number): void;
}

/**
 * The maximum number of characters that are queued or in delivery; `bufferSize` does not limit the
 * size of events.
 */
const charactersMax = 64 << 20;
/**
 * The limit for `close()`, because a blocked disk or webhook must not delay the end of the server.
 */
export const closeMsMax = 5000;

/** @returns a queue that delivers full batches at once, and others after `maxWaitMs` */
export function batchQueue(delivery: Delivery, options: BatchQueueOptions): BatchQueue {
  const { bufferSize, maxSize, maxWaitMs, clock, lost } = options;
  const throttle = options.throttleEnable ? tokenBucket(options.throttleQps, options.throttleBurst, clock) : undefined;
  const ending = new AbortController();
  const inFlight = new Set<Promise<void>>();
  let waiting: string[] = [];
  let waitingCharacters = 0;
  let inFlightEvents = 0;
  let inFlightCharacters = 0;
  let draining: Promise<void> | undefined;
  let due = false;
  /** True after `close()` has counted the remaining events as lost. */
  let hasGivenUp = false;
  let cancelTimer: (() => void) | undefined;

  function takeBatch(): { texts: string[]; characters: number } {
    const countMax = throttle === undefined && delivery.joinsBatches ? waiting.length : maxSize;
    let count = 0;
    let characters = 0;
    while (count < countMax && count < waiting.length) {
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
    inFlightEvents += texts.length;
    inFlightCharacters += characters;
    const one = delivery
      .deliver(texts, ending.signal)
      .catch((error: unknown) => {
        if (!hasGivenUp) lost(delivery.plugin, messageOf(error), texts.length);
      })
      .finally(() => {
        inFlight.delete(one);
        inFlightEvents -= texts.length;
        inFlightCharacters -= characters;
      });
    inFlight.add(one);
  }

  async function drain(): Promise<void> {
    // Merges all events of one turn of the event loop.
    if (delivery.joinsBatches) await new Promise<void>((resolve) => setImmediate(resolve));
    while (waiting.length >= maxSize || (waiting.length > 0 && (due || ending.signal.aborted))) {
      if (throttle !== undefined) await throttle(ending.signal);
      while (inFlight.size >= delivery.atOnceMax) await Promise.race(inFlight);
      if (hasGivenUp) return;
      start(takeBatch());
    }
    due = false;
  }

  function wake(): void {
    if (draining !== undefined) return;
    if (waiting.length < maxSize && !ending.signal.aborted && !due) {
      cancelTimer ??= clock.after(maxWaitMs, () => {
        cancelTimer = undefined;
        due = true;
        wake();
      });
      return;
    }
    draining = drain().finally(() => {
      draining = undefined;
      if (waiting.length > 0 && !hasGivenUp) wake();
    });
  }

  async function drained(): Promise<void> {
    while (!hasGivenUp && (waiting.length > 0 || draining !== undefined || inFlight.size > 0)) {
      if (waiting.length > 0) wake();
      await draining;
      await Promise.all(inFlight);
    }
  }

  return {
    add(text) {
      if (ending.signal.aborted) return lost("buffered", "audit backend shut down", 1);
      if (waiting.length >= bufferSize || waitingCharacters + inFlightCharacters + text.length > charactersMax)
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
      await Promise.race([drained(), late]);
      cancel();
      hasGivenUp = true;
      const remaining = waiting.length + inFlightEvents;
      if (remaining > 0) lost(delivery.plugin, "the server stopped before they were delivered", remaining);
    },
  };
}

/** @returns the message of an Error, or the text of any other value */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves after `ms`, or when `ending` aborts. */
function pause(ms: number, ending: AbortSignal, clock: Clock): Promise<void> {
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

/** @returns a function that waits for the next token; after `ending` aborts it does not wait */
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
