/**
 * Queues events so that requests do not wait for delivery.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/audit/buffered/buffered.go.
 */
import { type Clock, realClock } from "../apimachinery/clock.ts";
import type { AuditBatchOptions } from "./contract.ts";

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

interface BatchQueueOptions extends AuditBatchOptions {
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
  return new DeliveryQueue(delivery, options);
}

interface Batch {
  readonly texts: readonly string[];
  readonly characters: number;
}

class DeliveryQueue implements BatchQueue {
  readonly #delivery: Delivery;
  readonly #options: BatchQueueOptions;
  /** Waits until the next batch may start; undefined when there is no limit. */
  readonly #throttle: ((ending: AbortSignal) => Promise<void>) | undefined;
  readonly #ending = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #waiting: string[] = [];
  #waitingCharacters = 0;
  #inFlightEvents = 0;
  #inFlightCharacters = 0;
  #draining: Promise<void> | undefined;
  /** Whether events have waited for `maxWaitMs`, so that an incomplete batch is delivered. */
  #due = false;
  /** True after `close()` has counted the remaining events as lost. */
  #hasGivenUp = false;
  #cancelTimer: (() => void) | undefined;

  constructor(delivery: Delivery, options: BatchQueueOptions) {
    const { throttleEnable, throttleQps, throttleBurst, clock } = options;
    this.#delivery = delivery;
    this.#options = options;
    this.#throttle = throttleEnable ? tokenBucket(throttleQps, throttleBurst, realClock(clock)) : undefined;
  }

  add(text: string): void {
    const { bufferSize, lost } = this.#options;
    if (this.#ending.signal.aborted) return lost("buffered", "audit backend shut down", 1);
    const characters = this.#waitingCharacters + this.#inFlightCharacters + text.length;
    if (this.#waiting.length >= bufferSize || characters > charactersMax)
      return lost("buffered", "audit buffer queue blocked", 1);
    this.#waiting.push(text);
    this.#waitingCharacters += text.length;
    this.#wake();
  }

  async close(): Promise<void> {
    const { clock, lost } = this.#options;
    this.#ending.abort();
    this.#cancelTimer?.();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = realClock(clock).after(closeMsMax, resolve);
    await Promise.race([this.#drained(), late]);
    cancel();
    this.#hasGivenUp = true;
    const remaining = this.#waiting.length + this.#inFlightEvents;
    if (remaining > 0) lost(this.#delivery.plugin, "the server stopped before they were delivered", remaining);
  }

  /** Starts deliveries if a batch is full or due, otherwise the timer. */
  #wake(): void {
    const { maxSize, maxWaitMs, clock } = this.#options;
    if (this.#draining !== undefined) return;
    if (this.#waiting.length < maxSize && !this.#ending.signal.aborted && !this.#due) {
      this.#cancelTimer ??= clock.after(maxWaitMs, () => {
        this.#cancelTimer = undefined;
        this.#due = true;
        this.#wake();
      });
      return;
    }
    this.#draining = this.#drain().finally(() => {
      this.#draining = undefined;
      if (this.#waiting.length > 0 && !this.#hasGivenUp) this.#wake();
    });
  }

  /** Starts the delivery of all batches that are full or due. */
  async #drain(): Promise<void> {
    const { joinsBatches, atOnceMax } = this.#delivery;
    // Merges all events of one turn of the event loop.
    if (joinsBatches) await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#hasBatch()) {
      if (this.#throttle !== undefined) await this.#throttle(this.#ending.signal);
      while (this.#inFlight.size >= atOnceMax) await Promise.race(this.#inFlight);
      if (this.#hasGivenUp) return;
      this.#start(this.#takeBatch());
    }
    this.#due = false;
  }

  #hasBatch(): boolean {
    const { length } = this.#waiting;
    return length >= this.#options.maxSize || (length > 0 && (this.#due || this.#ending.signal.aborted));
  }

  #takeBatch(): Batch {
    const { joinsBatches, batchCharactersMax } = this.#delivery;
    const waiting = this.#waiting;
    const countMax = this.#throttle === undefined && joinsBatches ? waiting.length : this.#options.maxSize;
    let count = 0;
    let characters = 0;
    while (count < countMax && count < waiting.length) {
      const { length } = waiting[count] as string;
      if (count > 0 && characters + length > batchCharactersMax) break;
      characters += length;
      count++;
    }
    this.#waiting = waiting.slice(count);
    this.#waitingCharacters -= characters;
    return { texts: waiting.slice(0, count), characters };
  }

  #start({ texts, characters }: Batch): void {
    this.#inFlightEvents += texts.length;
    this.#inFlightCharacters += characters;
    const one = this.#delivery
      .deliver(texts, this.#ending.signal)
      .catch((error: unknown) => {
        if (!this.#hasGivenUp) this.#options.lost(this.#delivery.plugin, messageOf(error), texts.length);
      })
      .finally(() => {
        this.#inFlight.delete(one);
        this.#inFlightEvents -= texts.length;
        this.#inFlightCharacters -= characters;
      });
    this.#inFlight.add(one);
  }

  /** Resolves when no event is queued or in delivery, or the queue has given up. */
  async #drained(): Promise<void> {
    while (!this.#hasGivenUp && (this.#waiting.length > 0 || this.#draining !== undefined || this.#inFlight.size > 0)) {
      if (this.#waiting.length > 0) this.#wake();
      await this.#draining;
      await Promise.all(this.#inFlight);
    }
  }
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
