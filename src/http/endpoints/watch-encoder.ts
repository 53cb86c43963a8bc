/** Bytes of watch events, made once for all watchers that see the same in the same form. */
import type { WatchScope } from "../../registry/watch.ts";
import type { CacheEvent, Entry } from "../../watch-cache/contract.ts";

/** How a watcher wants objects. */
export interface EventForm {
  /** The same text for forms that are the same. */
  readonly text: string;
  /** JSON of the object. @param isFirst whether the watcher got no event before */
  objectOf(entry: Entry, isFirst: boolean): Buffer;
}

/** Events as they are sent. */
export interface EncodedEvents {
  readonly bytes: Buffer;
  readonly count: number;
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
    if (this.#remembered.size > rememberedMax) this.#remembered.delete(this.#remembered.keys().next().value as readonly CacheEvent[]);
    return encoded;
  }

  /** For one watcher, to whom the first event may look different. */
  encodeFirst(batch: readonly CacheEvent[], isFirst: boolean): EncodedEvents | undefined {
    const lines: Line[] = [];
    for (const event of batch) {
      const shown = this.#scope.shown(event);
      if (shown !== undefined) lines.push({ head: heads[shown.type], object: this.#form.objectOf(shown.entry, isFirst && lines.length === 0) });
    }
    return lines.length === 0 ? undefined : joinLines(lines);
  }

  /** Synthetic ADDED events. */
  encodeAdded(entries: readonly Entry[], isFirst: boolean): EncodedEvents {
    return joinLines(entries.map((entry, index) => ({ head: heads.ADDED, object: this.#form.objectOf(entry, isFirst && index === 0) })));
  }
}

/** One event of any type. @param object JSON */
export function encodeEvent(type: string, object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}

interface Line {
  readonly head: Buffer;
  readonly object: Buffer;
}

const heads = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const closeBrace = 0x7d;
const newline = 0x0a;

function joinLines(lines: readonly Line[]): EncodedEvents {
  let length = 0;
  for (const { head, object } of lines) length += head.length + object.length + 2;
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const { head, object } of lines) {
    at += head.copy(bytes, at);
    at += object.copy(bytes, at);
    bytes[at++] = closeBrace;
    bytes[at++] = newline;
  }
  return { bytes, count: lines.length };
}
