/** Bytes of watch events, made once for all watchers that see the same in the same form. */
import type { WatchScope } from "../../registry/watch.ts";
import type { CacheEvent, Entry } from "../../watch-cache/contract.ts";
import type { EventFraming, FramedEvent } from "../representation/event-framing.ts";
import type { PieceMemory } from "../representation/pieces.ts";
import type { StatusBody } from "../respond.ts";

/** How a watcher wants objects. */
export interface EventForm {
  /** The same text for forms that are the same. */
  readonly text: string;
  readonly framing: EventFraming;
  /** @param isFirst whether the watcher got no event before */
  objectOf(entry: Entry, isFirst: boolean): Buffer;
  /** An object of the kind that has nothing but this. */
  bookmarkOf(metadata: BookmarkMetadata, isFirst: boolean): Buffer;
  statusOf(status: StatusBody): Buffer;
}

export interface BookmarkMetadata {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Events as they are sent. */
export interface EncodedEvents {
  readonly bytes: Buffer;
  /** Of each event, to within some bytes of what is around its object. */
  readonly sizes: readonly number[];
}

/** Batches whose bytes are remembered: watchers that lag a little share them too. */
const rememberedMax = 4;

export class WatchEncoder {
  readonly #form: EventForm;
  readonly #scope: WatchScope;
  /** By batch, oldest first. */
  readonly #remembered = new Map<readonly CacheEvent[], EncodedEvents | undefined>();

  constructor(form: EventForm, scope: WatchScope) {
    this.#form = form;
    this.#scope = scope;
  }

  /** @returns undefined when none of the events shows */
  encode(batch: readonly CacheEvent[]): EncodedEvents | undefined {
    if (this.#remembered.has(batch)) return this.#remembered.get(batch);
    const encoded = this.encodeFirst(batch, false);
    this.#remembered.set(batch, encoded);
    if (this.#remembered.size > rememberedMax)
      this.#remembered.delete(this.#remembered.keys().next().value as readonly CacheEvent[]);
    return encoded;
  }

  /** For one watcher, to whom the first event may look different. */
  encodeFirst(batch: readonly CacheEvent[], isFirst: boolean): EncodedEvents | undefined {
    const events: FramedEvent[] = [];
    for (const event of batch) {
      const shown = this.#scope.shown(event);
      if (shown !== undefined)
        events.push({ type: shown.type, object: this.#form.objectOf(shown.entry, isFirst && events.length === 0) });
    }
    return events.length === 0 ? undefined : this.#join(events);
  }

  /** Synthetic ADDED events, for one watcher. @param memory where they may be made */
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

  /** One event, no matter whether it is in scope. */
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
