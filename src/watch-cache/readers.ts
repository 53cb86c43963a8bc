/** The subscriptions of a watch cache: each receives the batches of the ring in its turn, then the newest ones. */
import { expired } from "../apimachinery/errors.ts";
import type { CacheEvent, CacheSubscriber, CacheSubscription, Topic } from "./contract.ts";
import type { EventRing } from "./event-ring.ts";
import { eventsByTopic, topicText } from "./topics.ts";

/** What readers read. */
export interface Feed {
  readonly ring: EventRing;
  /** The newest revision. */
  readonly revision: number;
  /** Events that are not in the ring yet. */
  readonly undelivered: readonly CacheEvent[];
}

interface Reader {
  readonly subscriber: CacheSubscriber;
  /** All events up to this revision have been delivered. */
  from: number;
  readonly topic: string | undefined;
  /** The number of its next batch; not used when it has caught up. */
  next: number;
  paused: boolean;
  /** Whether it has received all events in the ring. */
  caughtUp: boolean;
}

interface ReadersOptions {
  readonly indexedFields: readonly string[];
  /** Called when a subscriber throws. */
  readonly failed: (error: unknown) => void;
}

/** The readers of one cache. */
export class Readers {
  readonly #feed: Feed;
  readonly #indexedFields: readonly string[];
  readonly #failed: (error: unknown) => void;
  readonly #readers = new Set<Reader>();
  /** Readers by topic; those without a topic under undefined. */
  readonly #byTopic = new Map<string | undefined, Set<Reader>>();
  /** Readers that receive progress. */
  readonly #awaitingProgress = new Set<Reader>();

  constructor(feed: Feed, { indexedFields, failed }: ReadersOptions) {
    this.#feed = feed;
    this.#indexedFields = indexedFields;
    this.#failed = failed;
  }

  /** Whether a reader receives progress. */
  get awaitProgress(): boolean {
    return this.#awaitingProgress.size > 0;
  }

  /** Subscribes to the events after a revision, all of which the ring has. Past events are delivered before it returns. */
  add(from: number, subscriber: CacheSubscriber, topic: Topic | undefined): CacheSubscription {
    const reader: Reader = {
      subscriber,
      from,
      topic: topic && topicText(topic),
      next: this.#feed.ring.find(from),
      paused: false,
      caughtUp: false,
    };
    this.#insert(reader);
    if (subscriber.progress !== undefined) this.#awaitingProgress.add(reader);
    this.#pump(reader);
    const delivered = (): number => this.#deliveredTo(reader);
    return {
      get delivered() {
        return delivered();
      },
      resume: () => {
        if (!reader.paused || !this.#readers.has(reader)) return;
        reader.paused = false;
        this.#pump(reader);
      },
      close: () => this.#drop(reader),
    };
  }

  #insert(reader: Reader): void {
    this.#readers.add(reader);
    const others = this.#byTopic.get(reader.topic);
    if (others === undefined) this.#byTopic.set(reader.topic, new Set([reader]));
    else others.add(reader);
  }

  #drop(reader: Reader): void {
    this.#readers.delete(reader);
    this.#awaitingProgress.delete(reader);
    const others = this.#byTopic.get(reader.topic);
    others?.delete(reader);
    if (others?.size === 0) this.#byTopic.delete(reader.topic);
  }

  /** Ends all. @param listFrom set when the events so far are not those of the store: its revision */
  endAll(listFrom: number | undefined): void {
    const readers = [...this.#readers];
    this.#readers.clear();
    this.#byTopic.clear();
    this.#awaitingProgress.clear();
    for (const { subscriber, from } of readers) {
      const error = listFrom === undefined ? undefined : expired(`too old resource version: ${from} (${listFrom})`);
      this.notify(() => subscriber.end(error));
    }
  }

  /** Makes readers whose next batch was dropped end when they go on, because its number will be used again. */
  loseDropped(): void {
    for (const reader of this.#readers)
      if (!reader.caughtUp && reader.next < this.#feed.ring.first) reader.next = Number.NEGATIVE_INFINITY;
  }

  /** Delivers what readers of progress have not received. */
  pumpAll(): void {
    for (const reader of this.#awaitingProgress) this.#pump(reader);
  }

  /**
   * Delivers a batch to the readers that have caught up; the others read it from the ring later.
   * @param batch the newest batch of the ring
   */
  publish(batch: readonly CacheEvent[]): void {
    const { next } = this.#feed.ring;
    for (const reader of this.#byTopic.get(undefined) ?? []) if (reader.caughtUp) this.#deliverTo(reader, batch, next);
    for (const [topic, events] of eventsByTopic(batch, this.#byTopic, this.#indexedFields)) {
      for (const reader of this.#byTopic.get(topic) ?? []) if (reader.caughtUp) this.#deliverTo(reader, events, next);
    }
  }

  /**
   * Delivers a batch to a reader, without events that it already has.
   * @param batch not empty
   * @param next the number of the batch after it
   */
  #deliverTo(reader: Reader, batch: readonly CacheEvent[], next: number): void {
    const isNew = (batch[0] as CacheEvent).revision > reader.from;
    const events = isNew ? batch : batch.filter(({ revision }) => revision > reader.from);
    reader.next = next;
    reader.from = Math.max(reader.from, (batch.at(-1) as CacheEvent).revision);
    if (events.length === 0) return;
    try {
      reader.paused = reader.subscriber.events(events) === false;
    } catch (error) {
      return this.#endFailed(reader, error);
    }
    if (reader.paused) reader.caughtUp = false;
  }

  /** Ends the subscription of a subscriber that has thrown. */
  #endFailed(reader: Reader, error: unknown): void {
    const { subscriber } = reader;
    reader.paused = true; // Nothing more is delivered.
    reader.caughtUp = false;
    this.#drop(reader);
    this.#failed(error);
    this.notify(() => (subscriber.failed === undefined ? subscriber.end() : subscriber.failed(error)));
  }

  /** Lets subscribers know of their end: one that throws does not affect the others. */
  notify(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Delivers batches of the ring, then progress, until the reader has caught up or pauses. */
  #pump(reader: Reader): void {
    while (!reader.paused && !reader.caughtUp && reader.next < this.#feed.ring.next) {
      if (reader.next < this.#feed.ring.first) {
        this.#drop(reader);
        return this.notify(() => reader.subscriber.end());
      }
      this.#deliverTo(reader, this.#feed.ring.batch(reader.next), reader.next + 1);
    }
    reader.caughtUp = !reader.paused;
    if (reader.paused || !this.#awaitingProgress.has(reader)) return;
    if (reader.subscriber.progress === undefined) this.#awaitingProgress.delete(reader);
    else this.#reportProgress(reader);
  }

  #reportProgress(reader: Reader): void {
    try {
      reader.subscriber.progress?.(this.#deliveredTo(reader));
    } catch (error) {
      this.#endFailed(reader, error);
    }
  }

  /** Returns the revision up to which the reader has received everything. It never decreases. */
  #deliveredTo({ from, next, caughtUp }: Reader): number {
    if (!caughtUp && next < this.#feed.ring.first) return from;
    const [coming] = !caughtUp && next < this.#feed.ring.next ? this.#feed.ring.batch(next) : this.#feed.undelivered;
    return Math.max(from, coming === undefined ? this.#feed.revision : coming.revision - 1);
  }
}
