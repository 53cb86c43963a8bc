/** One watcher: initial events, then what happens, bookmarks in between, an end in time. */
import type { Clock } from "../../api/clock.ts";
import { ApiError } from "../../api/errors.ts";
import type { WatchPlan } from "../../registry/watch.ts";
import type { CacheEvent, CacheSubscription, Entry, WatchCache } from "../../watch-cache/contract.ts";
import type { BodyStream } from "../contract.ts";
import { type PieceMemory, pieceBytes } from "../representation/pieces.ts";
import { statusBody } from "../respond.ts";
import type { WatchEncoder } from "./watch-encoder.ts";

export interface WatchStreamOptions {
  readonly stream: BodyStream;
  readonly cache: WatchCache;
  readonly clock: Clock;
  readonly plan: WatchPlan;
  readonly encoder: WatchEncoder;
  /** Of the initial events, which go to this watcher alone. */
  readonly memory: PieceMemory;
  /** Told how many events were sent, bookmarks aside. */
  readonly sent: (events: number) => void;
  readonly bookmarks: boolean;
  /** The first event is encoded for this watcher alone. */
  readonly firstDiffers: boolean;
  readonly timeoutMs: number;
  /** Sent instead of events. */
  readonly refused: ApiError | undefined;
}

const bookmarkMs = 60_000;
/** Bytes not taken by the socket beyond which a watcher gets no more until it has read them. */
const pendingBytesMax = 512 << 10;
/** A watcher that reads nothing for so long is cut off. */
const stalledMs = 30_000;
/** @returns ends the watch; may be called again, and after the client has gone */
export function startWatch(options: WatchStreamOptions): () => void {
  const watch = new WatchStream(options);
  watch.start();
  return () => watch.end();
}

class WatchStream {
  readonly #options: WatchStreamOptions;
  #subscription: CacheSubscription | undefined;
  #ended = false;
  #isFirst = true;
  readonly #cancels = new Map<string, () => void>();

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  start(): void {
    const { refused, timeoutMs, plan } = this.#options;
    if (refused !== undefined) return this.#fail(refused);
    this.#after("timeout", timeoutMs, () => this.#timeOut());
    if (plan.initial === undefined) return this.#follow();
    this.#sendInitial(plan.scope.objects(plan.initial)[Symbol.iterator]());
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#subscription?.close();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
    this.#options.stream.end();
  }

  /** In pieces; the next one when the socket has taken the last, and others had their turn. */
  #sendInitial(objects: Iterator<Entry>): void {
    const { stream, encoder, firstDiffers, sent, memory } = this.#options;
    const entries: Entry[] = [];
    let bytes = 0;
    let next = objects.next();
    for (; next.done !== true; next = objects.next()) {
      entries.push(next.value);
      bytes += next.value.json.length;
      if (bytes >= pieceBytes) break;
    }
    if (entries.length > 0) {
      const { bytes, count } = encoder.encodeAdded(entries, { isFirst: firstDiffers && this.#isFirst, memory });
      stream.write(bytes, () => memory.release(bytes));
      sent(count);
      this.#isFirst = false;
    }
    if (next.done === true) return this.#follow();
    this.#whenDrained(() => setImmediate(() => !this.#ended && this.#sendInitial(objects)));
  }

  #follow(): void {
    const { cache, plan, bookmarks, stream } = this.#options;
    if (bookmarks) this.#after("bookmark", bookmarkMs, () => this.#bookmarkAgain());
    const end = plan.initialEventsEnd;
    const subscriber = {
      events: (batch: readonly CacheEvent[]): boolean => this.#send(batch),
      progress:
        end === undefined
          ? undefined
          : (revision: number): void => {
              if (revision < end) return;
              subscriber.progress = undefined;
              stream.write(this.#bookmark(revision, { "k8s.io/initial-events-end": "true" }));
            },
      end: (): void => this.end(),
    };
    try {
      this.#subscription = cache.subscribe(plan.from, subscriber, plan.scope.topic);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#fail(error); // The initial events took longer than events are kept.
    }
  }

  #send(batch: readonly CacheEvent[]): boolean {
    const { stream, encoder, firstDiffers, sent } = this.#options;
    const encoded = firstDiffers && this.#isFirst ? encoder.encodeFirst(batch, true) : encoder.encode(batch);
    if (encoded === undefined) return true;
    this.#isFirst = false;
    sent(encoded.count);
    if (stream.write(encoded.bytes) || stream.pendingBytes <= pendingBytesMax) return true;
    this.#whenDrained(() => this.#subscription?.resume());
    return false;
  }

  /** Waits for the client, not for ever. */
  #whenDrained(run: () => void): void {
    const { stream } = this.#options;
    this.#after("stalled", stalledMs, () => {
      stream.abort();
      this.end();
    });
    void stream.drained().then(() => {
      this.#cancel("stalled");
      if (!this.#ended) run();
    });
  }

  #bookmarkAgain(): void {
    this.#sendBookmark();
    this.#after("bookmark", bookmarkMs, () => this.#bookmarkAgain());
  }

  #sendBookmark(): void {
    const { stream, cache } = this.#options;
    const revision = this.#subscription?.delivered ?? 0;
    if (revision > 0 && revision <= cache.latest().revision) stream.write(this.#bookmark(revision));
  }

  #bookmark(revision: number, annotations?: Record<string, string>): Buffer {
    const { encoder, firstDiffers } = this.#options;
    const bytes = encoder.encodeBookmark({ resourceVersion: String(revision), ...(annotations && { annotations }) }, firstDiffers && this.#isFirst);
    this.#isFirst = false;
    return bytes;
  }

  #timeOut(): void {
    if (this.#options.bookmarks) this.#sendBookmark();
    this.end();
  }

  #fail(error: ApiError): void {
    this.#options.stream.write(this.#options.encoder.encodeError(statusBody(error.status)));
    this.end();
  }

  #after(name: string, delayMs: number, run: () => void): void {
    this.#cancel(name);
    this.#cancels.set(name, this.#options.clock.after(delayMs, run));
  }

  #cancel(name: string): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }
}
