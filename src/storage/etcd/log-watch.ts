/** A subscription of the log: a watch of etcd whose events are those of the storage contract. */
import type { Clock } from "../../apimachinery/clock.ts";
import {
  type LogEvent,
  type LogSubscriber,
  type RevisionCompacted,
  StorageUnavailable,
  type Stored,
} from "../contract.ts";
import type { KeyValue, WatchEvent } from "./api/messages.ts";
import { isIn } from "./keys.ts";
import type { Watch } from "./watch-stream.ts";

export interface LogWatchOptions {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
  readonly prefix: string;
  readonly from: number;
  readonly subscriber: LogSubscriber;
  readonly storedOf: (kv: KeyValue) => Stored;
  /** Called for each change after the subscriber has received it. */
  readonly received: (event: WatchEvent) => void;
  /** Called when the cluster has confirmed that no change is missing. */
  readonly bookmark: (() => void) | undefined;
  readonly now: () => number;
  /** Called when the subscription has ended. */
  readonly ended: () => void;
}

/** Events that are delivered together. */
const batchMax = 1000;

export class LogWatch implements Watch {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
  readonly prefix: string;
  readonly #options: LogWatchOptions;
  readonly #waiters = new Set<() => void>();
  #delivered: number;
  #live = false;
  #ended = false;

  constructor(options: LogWatchOptions) {
    this.#options = options;
    this.key = options.key;
    this.rangeEnd = options.rangeEnd;
    this.prefix = options.prefix;
    this.#delivered = options.from;
  }

  get delivered(): number {
    return this.#delivered;
  }

  /** Whether it had received every change at some time. */
  get isLive(): boolean {
    return this.#live;
  }

  events(events: readonly WatchEvent[]): void {
    if (!this.#follows(events)) {
      this.end({ error: new StorageUnavailable("etcd sent other changes than those that follow the last one") });
      return;
    }
    for (let at = 0; at < events.length && !this.#ended; ) {
      const end = endOfBatch(events, at);
      const batch = events.slice(at, end);
      at = end;
      this.#call(() => this.#options.subscriber.events(batch.map((event) => this.#logEvent(event))));
      for (const event of batch) this.#options.received(event);
      this.#advance((batch.at(-1) as WatchEvent).kv.mod_revision);
    }
  }

  bookmark(): void {
    this.#options.bookmark?.();
  }

  progress(revision: number): void {
    this.#live = true;
    if (revision >= this.#delivered) this.#advance(revision);
  }

  compacted(error: RevisionCompacted): void {
    this.end({ error });
  }

  /** Resolves when all changes up to the revision were delivered, or after the time. */
  reached(revision: number, clock: Clock, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiters.delete(check);
        cancel();
        resolve();
      };
      const check = (): void => {
        if (this.#delivered >= revision || this.#ended) finish();
      };
      const cancel = clock.after(timeoutMs, finish);
      this.#waiters.add(check);
    });
  }

  /** Ends it. @param reported what the subscriber receives; nothing when the subscriber ended it */
  end(reported?: { readonly error: Error | undefined }): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.ended();
    for (const check of [...this.#waiters]) check();
    if (reported !== undefined) this.#options.subscriber.end(reported.error);
  }

  /** Whether the changes are those of a range of keys after `delivered`. */
  #follows(events: readonly WatchEvent[]): boolean {
    const [first] = events;
    if (first !== undefined && first.kv.mod_revision <= this.#delivered) return false;
    return events.every(({ kv }) => isIn(this, kv.key));
  }

  #advance(revision: number): void {
    if (this.#ended) return;
    this.#delivered = revision;
    this.#call(() => this.#options.subscriber.progress(revision));
    for (const check of [...this.#waiters]) check();
  }

  #call(deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.end({ error: error as Error });
    }
  }

  #logEvent({ type, kv, prev_kv: before }: WatchEvent): LogEvent {
    const { storedOf, now } = this.#options;
    const isPut = type === 0;
    const { key, value, seal } = storedOf(isPut || before === undefined ? kv : before);
    return {
      type: isPut ? "put" : "delete",
      key,
      revision: kv.mod_revision,
      previousRevision:
        before?.mod_revision ?? (isPut && kv.create_revision < kv.mod_revision ? kv.create_revision : 0),
      at: now(),
      value,
      ...(seal !== undefined && { seal }),
      ...(before !== undefined && { previous: () => storedOf(before) }),
      ...(!isPut && before === undefined && { damage: "the last value was compacted" }),
    };
  }
}

/** The end of the transaction that the last event of a full batch belongs to. */
function endOfBatch(events: readonly WatchEvent[], start: number): number {
  let end = Math.min(start + batchMax, events.length);
  while (end < events.length && events[end]?.kv.mod_revision === events[end - 1]?.kv.mod_revision) end++;
  return end;
}
