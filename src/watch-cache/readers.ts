/** The subscriptions of a watch cache: each receives the batches of the ring in its turn, then the newest ones. */
import { expired } from "../apimachinery/errors.ts";
import type { CacheEvent, CacheSubscriber, CacheSubscription, Topic } from "./contract.ts";
import { bytesOf, type EventRing } from "./event-ring.ts";
import { eventsByTopic, topicText } from "./topics.ts";

/** What readers read. */
export interface Feed {
  readonly ring: EventRing;
  /** The newest revision. */
  readonly revision: number;
  /** Events that are not in the ring yet. */
  readonly undelivered: readonly CacheEvent[];
}

/** Calls of subscribers in one turn of the event loop. */
const deliveriesMax = 512;
/**
 * Events that wait while others are delivered to many readers use at most about this memory. Beyond it, the others are
 * delivered at once.
 */
const comingBytesMax = 1 << 20;

interface Reader {
  readonly subscriber: CacheSubscriber;
  /** All events up to this revision have been delivered. */
  from: number;
  readonly topic: string | undefined;
  /** The number of its next batch. When it has caught up, it may be that of an earlier one. */
  next: number;
  paused: boolean;
  /** Whether it has received all events in the ring, but for those of the current round. */
  caughtUp: boolean;
}

/** The newest events are delivered to the readers that have caught up. */
interface Round {
  readonly events: readonly CacheEvent[];
  /** The number of the batch after them. */
  readonly next: number;
  /** Makes one delivery in each step. */
  readonly deliveries: Iterator<void>;
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
  #round: Round | undefined;
  /** Events of the next round. They are in the ring, too. */
  #coming: CacheEvent[] = [];
  #comingBytes = 0;
  /** The round goes on in the next turn. */
  #goesOn = false;

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
    this.#round = undefined;
    this.#coming = [];
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
   * Delivers a batch to the readers that have caught up, to many of them in several turns of the event loop; the others
   * read it from the ring later. While the batch before is delivered, batches are collected, and delivered as one.
   * @param batch the newest batch of the ring
   */
  publish(batch: readonly CacheEvent[]): void {
    if (this.#round === undefined) {
      this.#begin(batch);
      return this.#deliverSome();
    }
    for (const event of batch) this.#coming.push(event);
    this.#comingBytes += bytesOf(batch);
    if (this.#comingBytes > comingBytesMax) this.#deliver(Number.POSITIVE_INFINITY);
  }

  /** Makes the deliveries of one turn. */
  #deliverSome(): void {
    this.#deliver(deliveriesMax);
    if (this.#round === undefined || this.#goesOn) return;
    this.#goesOn = true;
    setImmediate(() => {
      this.#goesOn = false;
      this.#deliverSome();
      this.pumpAll();
    });
  }

  #deliver(count: number): void {
    for (let left = count; left > 0 && this.#round !== undefined; left--) {
      if (this.#round.deliveries.next().done !== true) continue;
      this.#round = undefined;
      if (this.#coming.length > 0) this.#begin(this.#coming);
    }
  }

  #begin(events: readonly CacheEvent[]): void {
    const { next } = this.#feed.ring;
    this.#round = { events, next, deliveries: this.#deliveries(events, next) };
    this.#coming = [];
    this.#comingBytes = 0;
  }

  *#deliveries(batch: readonly CacheEvent[], next: number): Generator<void, void> {
    yield* this.#deliverToTopic(undefined, batch, next);
    for (const [topic, events] of eventsByTopic(batch, this.#byTopic, this.#indexedFields))
      yield* this.#deliverToTopic(topic, events, next);
  }

  *#deliverToTopic(topic: string | undefined, events: readonly CacheEvent[], next: number): Generator<void, void> {
    for (const reader of this.#byTopic.get(topic) ?? []) {
      if (!reader.caughtUp || reader.next >= next) continue; // It has them, or reads them from the ring.
      this.#deliverTo(reader, events, next);
      yield;
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
  #deliveredTo(reader: Reader): number {
    if (!reader.caughtUp && reader.next < this.#feed.ring.first) return reader.from;
    const [coming] = this.#comingTo(reader);
    return Math.max(reader.from, coming === undefined ? this.#feed.revision : coming.revision - 1);
  }

  /** Returns the next events that the reader may receive. */
  #comingTo({ next, caughtUp }: Reader): readonly CacheEvent[] {
    if (next >= this.#feed.ring.next) return this.#feed.undelivered;
    if (!caughtUp) return this.#feed.ring.batch(next);
    if (this.#round === undefined) return this.#feed.undelivered;
    return next < this.#round.next ? this.#round.events : this.#coming;
  }
}
