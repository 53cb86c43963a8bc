/**
 * Recent events in batches, oldest first, within limits. Batches are numbered, so that a
 * subscriber's position is a number.
 */
import type { CacheEvent } from "./contract.ts";

interface EventRingOptions {
  /** Above any of the three limits the oldest batches are dropped. */
  readonly eventsMax: number;
  readonly bytesMax: number;
  readonly ageMaxMs: number;
}

interface Batch {
  readonly events: readonly CacheEvent[];
  readonly bytes: number;
  /** Time of its last event, in milliseconds since 1970. */
  readonly at: number;
  /**
   * The batch is not dropped before, because it was reloaded for a subscriber that is about to read
   * it.
   */
  readonly heldUntil: number;
}

/** Replaces a dropped batch. */
const dropped: Batch = { events: [], bytes: 0, at: 0, heldUntil: 0 };

/**
 * Events in a reloaded batch, except for the rest of its last commit. Subscribers pause only
 * between batches.
 */
const reloadedBatchMax = 128;

/** How long reloaded events are held for their subscriber. */
const heldMs = 10_000;

/** Bytes that an event uses in addition to its object. */
const eventBytes = 300;

export class EventRing {
  readonly #options: EventRingOptions;
  /** Batches before index `#start` are dropped. */
  #batches: Batch[] = [];
  #start = 0;
  #first = 0;
  #events = 0;
  #bytes = 0;
  #from: number;
  /** Time of the last dropped event; Infinity when unknown. */
  #lastDroppedAt = Number.POSITIVE_INFINITY;

  /** @param from the revision after which events will be added */
  constructor(options: EventRingOptions, from: number) {
    this.#options = options;
    this.#from = from;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The ring has all events after this revision. */
  get from(): number {
    return this.#from;
  }

  /**
   * Returns an upper bound of the time at which the state at a revision was superseded; Infinity
   * when unknown, undefined when the state is current.
   */
  supersededAt(revision: number): number | undefined {
    if (revision < this.#from) return this.#lastDroppedAt;
    const number = this.find(revision);
    return number === this.next ? undefined : this.batch(number).find((event) => event.revision > revision)?.at;
  }

  /** Returns the revision of the last event in the ring up to a time. */
  revisionAt(time: number): number {
    let revision = this.#from;
    for (let index = this.#start; index < this.#batches.length; index++) {
      const { at, events } = this.#batches[index] as Batch;
      if (at > time) break;
      revision = lastRevision(events);
    }
    return revision;
  }

  /** The number of the oldest batch. */
  get first(): number {
    return this.#first;
  }

  /** The number of the next batch. */
  get next(): number {
    return this.#first + this.#batches.length - this.#start;
  }

  batch(number: number): readonly CacheEvent[] {
    return (this.#batches[this.#start + number - this.#first] as Batch).events;
  }

  /**
   * Returns the number of the first batch with an event after the revision; `next` when there is
   * none.
   */
  find(revision: number): number {
    let low = this.#start;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lastRevision((this.#batches[middle] as Batch).events) > revision) high = middle;
      else low = middle + 1;
    }
    return this.#first + low - this.#start;
  }

  /** @param events not empty */
  add(events: readonly CacheEvent[], now: number): void {
    this.#batches.push(this.#counted(events, 0));
    this.#forget(now);
  }

  /** Adds reloaded events before all others. The ring then has all events after `from`. */
  addBefore(events: readonly CacheEvent[], from: number, now: number): void {
    this.#from = from;
    this.#lastDroppedAt = Number.POSITIVE_INFINITY;
    const batches: Batch[] = [];
    for (let at = 0; at < events.length; ) {
      const end = endOfCommit(events, Math.min(at + reloadedBatchMax, events.length));
      batches.push(this.#counted(events.slice(at, end), now + heldMs));
      at = end;
    }
    this.#batches.splice(0, this.#start, ...batches);
    this.#start = 0;
    this.#first -= batches.length;
  }

  /** Iterates over the events after the revision, newest first. */
  *backTo(revision: number): IterableIterator<CacheEvent> {
    for (let index = this.#batches.length - 1; index >= this.#start; index--) {
      const { events } = this.#batches[index] as Batch;
      for (let at = events.length - 1; at >= 0; at--) {
        const event = events[at] as CacheEvent;
        if (event.revision <= revision) return;
        yield event;
      }
    }
  }

  #forget(now: number): void {
    const { eventsMax, bytesMax, ageMaxMs } = this.#options;
    while (this.#start < this.#batches.length - 1) {
      const { events, at, bytes, heldUntil } = this.#batches[this.#start] as Batch;
      if (this.#events <= eventsMax && this.#bytes <= bytesMax && now - at <= ageMaxMs) break;
      if (now < heldUntil) break;
      this.#events -= events.length;
      this.#bytes -= bytes;
      this.#from = lastRevision(events);
      this.#lastDroppedAt = at;
      this.#batches[this.#start] = dropped;
      this.#start += 1;
      this.#first += 1;
    }
    // Amortizes the cost of moving the array.
    if (this.#start < 256 || this.#start * 2 < this.#batches.length) return;
    this.#batches = this.#batches.slice(this.#start);
    this.#start = 0;
  }

  #counted(events: readonly CacheEvent[], heldUntil: number): Batch {
    const bytes = bytesOf(events);
    this.#events += events.length;
    this.#bytes += bytes;
    return { events, bytes, at: (events.at(-1) as CacheEvent).at, heldUntil };
  }
}

/**
 * Returns the first index at or after `end` at which a commit ends. The position of a subscriber is
 * a revision, so a batch must not end within a commit.
 */
function endOfCommit(events: readonly CacheEvent[], end: number): number {
  let at = end;
  while (at < events.length && events[at]?.revision === events[at - 1]?.revision) at++;
  return at;
}

function lastRevision(events: readonly CacheEvent[]): number {
  return (events.at(-1) as CacheEvent).revision;
}

/** Returns the memory that events use, in bytes. */
export function bytesOf(events: readonly CacheEvent[]): number {
  let bytes = 0;
  for (const { entry, previous, type } of events)
    bytes += (type === "DELETED" ? (previous ?? entry) : entry).json.length + eventBytes;
  return bytes;
}
