/** Recent events in batches, oldest first, within limits. Batches are numbered, so that a reader keeps his place in a number. */
import type { CacheEvent } from "./contract.ts";

export interface EventRingOptions {
  /** Beyond any of the three the oldest batches go. */
  readonly eventsMax: number;
  readonly bytesMax: number;
  readonly ageMaxMs: number;
}

interface Batch {
  readonly events: readonly CacheEvent[];
  readonly bytes: number;
  /** When its last event happened, in milliseconds since 1970. */
  readonly at: number;
  /** Stays until then whatever the limits say: somebody asked for it, and is about to read it. */
  readonly heldUntil: number;
}

/** Stands where a batch was. */
const dropped: Batch = { events: [], bytes: 0, at: 0, heldUntil: 0 };

/** Events in a batch that was brought back, but for the rest of its last commit: a reader can be slow between batches only. */
const broughtBackMax = 128;

/** How long events that were brought back wait for their reader. */
const heldMs = 10_000;

/** What an event costs besides its object's bytes. */
const eventBytes = 300;

export class EventRing {
  readonly #options: EventRingOptions;
  /** Those before `#start` are dropped. */
  #batches: Batch[] = [];
  #start = 0;
  #first = 0;
  #events = 0;
  #bytes = 0;
  #from: number;
  /** When the last event that was let go happened; Infinity while it is not known. */
  #lastDroppedAt = Number.POSITIVE_INFINITY;

  /** @param from the revision after which events will be added */
  constructor(options: EventRingOptions, from: number) {
    this.#options = options;
    this.#from = from;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** All events after this revision are here. */
  get from(): number {
    return this.#from;
  }

  /** When the state at a revision was superseded: then, or before. Infinity where this is not known, undefined where it was not. */
  supersededAt(revision: number): number | undefined {
    if (revision < this.#from) return this.#lastDroppedAt;
    const number = this.find(revision);
    return number === this.next ? undefined : this.batch(number).find((event) => event.revision > revision)?.at;
  }

  /** The revision that had been reached at a time, as far as the events tell that are here. */
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

  /** The number the next batch will have. */
  get next(): number {
    return this.#first + this.#batches.length - this.#start;
  }

  batch(number: number): readonly CacheEvent[] {
    return (this.#batches[this.#start + number - this.#first] as Batch).events;
  }

  /** The first batch that has an event after the revision; `next` when none has. */
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

  /** Events that come before all that are here, which then begin after `from`. */
  addBefore(events: readonly CacheEvent[], from: number, now: number): void {
    this.#from = from;
    this.#lastDroppedAt = Number.POSITIVE_INFINITY;
    const batches: Batch[] = [];
    for (let at = 0; at < events.length; ) {
      const end = endOfCommit(events, Math.min(at + broughtBackMax, events.length));
      batches.push(this.#counted(events.slice(at, end), now + heldMs));
      at = end;
    }
    this.#batches.splice(0, this.#start, ...batches);
    this.#start = 0;
    this.#first -= batches.length;
  }

  /** Newest first, down to the first one after the revision. */
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
    // The array is not moved for each batch that goes.
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

/** The first place at or after `end` where a commit ends: readers are told apart by revisions, and half a commit would be taken for all of it. */
function endOfCommit(events: readonly CacheEvent[], end: number): number {
  let at = end;
  while (at < events.length && events[at]?.revision === events[at - 1]?.revision) at++;
  return at;
}

function lastRevision(events: readonly CacheEvent[]): number {
  return (events.at(-1) as CacheEvent).revision;
}

export function bytesOf(events: readonly CacheEvent[]): number {
  let bytes = 0;
  for (const { entry } of events) bytes += entry.json.length + eventBytes;
  return bytes;
}
