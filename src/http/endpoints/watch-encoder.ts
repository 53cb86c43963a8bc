/** Encodes watch events, once for all watchers with the same scope and form. */

import type { StatusBody } from "../../apimachinery/status-body.ts";
import type { WatchScope } from "../../registry/watch.ts";
import type { CacheEvent, Entry } from "../../watch-cache/contract.ts";
import type { EventFraming, FramedEvent } from "../representation/event-framing.ts";
import type { PieceMemory } from "../representation/piece-memory.ts";

/** The form of the objects in events. */
export interface EventForm {
  /** Equal for equal forms. */
  readonly text: string;
  readonly framing: EventFraming;
  /** @param isFirst whether it is the watcher's first event */
  objectOf(entry: Entry, isFirst: boolean): Buffer;
  /** An object of the kind with only this metadata. */
  bookmarkOf(metadata: BookmarkMetadata, isFirst: boolean): Buffer;
  statusOf(status: StatusBody): Buffer;
}

/** The metadata of a bookmark. */
export interface BookmarkMetadata {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Encoded events. */
interface EncodedEvents {
  readonly bytes: Buffer;
  /** Of each event, approximately, including its framing. */
  readonly sizes: readonly number[];
}

/** Batches whose encoding is cached, also for watchers that lag slightly. */
const cachedBatchesMax = 4;

/** The encoder of one scope and form. */
export class WatchEncoder {
  readonly #form: EventForm;
  readonly #scope: WatchScope;
  /** By batch, oldest first. */
  readonly #remembered = new Map<readonly CacheEvent[], EncodedEvents | undefined>();

  constructor(form: EventForm, scope: WatchScope) {
    this.#form = form;
    this.#scope = scope;
  }

  /** @returns undefined when no event is in scope */
  encode(batch: readonly CacheEvent[]): EncodedEvents | undefined {
    if (this.#remembered.has(batch)) return this.#remembered.get(batch);
    const encoded = this.encodeFirst(batch, false);
    this.#remembered.set(batch, encoded);
    if (this.#remembered.size > cachedBatchesMax)
      this.#remembered.delete(this.#remembered.keys().next().value as readonly CacheEvent[]);
    return encoded;
  }

  /** Encodes for one watcher, whose first event may have another form. */
  encodeFirst(batch: readonly CacheEvent[], isFirst: boolean): EncodedEvents | undefined {
    const events: FramedEvent[] = [];
    for (const event of batch) {
      const shown = this.#scope.shown(event);
      if (shown !== undefined)
        events.push({ type: shown.type, object: this.#form.objectOf(shown.entry, isFirst && events.length === 0) });
    }
    return events.length === 0 ? undefined : this.#join(events);
  }

  /**
   * Encodes synthetic ADDED events for one watcher.
   * @param memory receives the bytes
   */
  encodeAdded(
    entries: readonly Entry[],
    { isFirst, memory }: { readonly isFirst: boolean; readonly memory: PieceMemory },
  ): EncodedEvents {
    const events = entries.map((entry, index) => ({
      type: "ADDED" as const,
      object: this.#form.objectOf(entry, isFirst && index === 0),
    }));
    return this.#join(events, memory);
  }

  /** Encodes a bookmark, which is always in scope. */
  encodeBookmark(metadata: BookmarkMetadata, isFirst: boolean): Buffer {
    return this.#form.framing.join([{ type: "BOOKMARK", object: this.#form.bookmarkOf(metadata, isFirst) }]);
  }

  encodeError(status: StatusBody): Buffer {
    return this.#form.framing.join([{ type: "ERROR", object: this.#form.statusOf(status) }]);
  }

  #join(events: readonly FramedEvent[], memory?: PieceMemory): EncodedEvents {
    const bytes = this.#form.framing.join(events, memory);
    let around = bytes.length;
    for (const { object } of events) around -= object.length;
    const each = Math.round(around / events.length);
    return { bytes, sizes: events.map(({ object }) => object.length + each) };
  }
}
