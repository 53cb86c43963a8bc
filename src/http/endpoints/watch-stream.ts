/** One watcher: initial events, then changes, periodic bookmarks, and a timeout. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import { statusBody } from "../../apimachinery/status-body.ts";
import type { ConvertedVersion } from "../../catalog/contract.ts";
import type { WatchPlan } from "../../registry/watch.ts";
import { type FailingExchange, guarded, runGuarded } from "../../request/boundary.ts";
import type { Turn } from "../../request/context.ts";
import type { BodyStream } from "../../request/exchange.ts";
import type { RequestStage } from "../../request/stages.ts";
import type { CacheEvent, CacheSubscription, Entry, WatchCache } from "../../watch-cache/contract.ts";
import { pieceBytes } from "../representation/piece.ts";
import type { PieceMemory } from "../representation/piece-memory.ts";
import { convertedEvents } from "./converted-events.ts";
import type { OpenWatch } from "./open-watches.ts";
import type { WatchEncoder } from "./watch-encoder.ts";

/** Options of a watcher. */
export interface WatchStreamOptions {
  readonly stream: BodyStream;
  readonly cache: WatchCache;
  readonly clock: Clock;
  readonly plan: WatchPlan;
  readonly encoder: Pick<WatchEncoder, "encode" | "encodeFirst" | "encodeAdded" | "encodeBookmark" | "encodeError">;
  /** Buffers for the initial events, which are not shared. */
  readonly memory: PieceMemory;
  /** Runs each piece of the initial events, see `RequestState.turn`. */
  readonly turn?: Turn;
  /** Called with the size of each event sent. */
  readonly sent: (sizes: readonly number[]) => void;
  /** Called when the objects that existed at the start were sent. */
  readonly started: () => void;
  /** Called after the bookmark that ends the initial events. */
  readonly listed: () => void;
  /** Called when the watcher is closed because its client does not read. */
  readonly cutOff: () => void;
  readonly bookmarks: boolean;
  /** Whether the first event is encoded separately for each watcher. */
  readonly firstDiffers: boolean;
  readonly timeoutMs: number;
  /** Sent instead of events. */
  readonly startError: ApiError | undefined;
  /** Converts the objects of the cache; undefined without a conversion webhook. */
  readonly converted?: ConvertedVersion | undefined;
  /** The request, which ends when a callback of the watcher throws. */
  readonly exchange: FailingExchange;
}

const bookmarkMs = 60_000;
/** Bytes not accepted by the socket above which a watcher pauses. */
const pendingBytesMax = 512 << 10;
/** A watcher that reads nothing for this time is closed. */
const stalledMs = 30_000;

/**
 * The duration and first delay of conversion retries. Source: MaxInternalErrorRetryDuration of
 * client-go's reflector.
 */
const retriedMs = 30_000;
const retryFirstMs = 800;

interface Retry {
  /** The time of the first attempt, milliseconds since 1970. */
  readonly since: number;
  readonly delayMs: number;
}

const all = (): boolean => true;

/**
 * Starts a watcher.
 * @returns its ends, which may be called repeatedly and after the client disconnected
 */
export function startWatch(options: WatchStreamOptions): Pick<OpenWatch, "end" | "fail"> {
  const watch = new WatchStream(options);
  watch.start();
  return { end: () => watch.end(), fail: (error) => watch.fail(error) };
}

class WatchStream {
  readonly #options: WatchStreamOptions;
  readonly #failing: FailingExchange;
  #subscription: CacheSubscription | undefined;
  #ended = false;
  #isFirst = true;
  /** Of the initial events, written in this turn. */
  #pieceBytes = 0;
  /** Events from the cache are being converted. */
  #converting = false;
  readonly #cancels = new Map<string, () => void>();

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.#failing = { fail: (error) => this.#break(error), entered: options.exchange.entered };
  }

  start(): void {
    runGuarded(this.#failing, "start watch", () => this.#begin());
  }

  #begin(): void {
    const { startError, timeoutMs, plan } = this.#options;
    if (startError !== undefined) return this.fail(startError);
    this.#after("timeout", timeoutMs, () => this.#timeOut());
    if (plan.initial === undefined) return this.#follow();
    const objects = plan.scope.objects(plan.initial)[Symbol.iterator]();
    this.#inTurn(() => this.#sendInitial(objects));
  }

  end(): void {
    if (this.#ended) return;
    this.#stop();
    this.#options.stream.end();
  }

  #stop(): void {
    this.#ended = true;
    this.#subscription?.close();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  /** Runs what writes at most one piece, when it is the turn of the watcher. */
  #inTurn(run: () => void): void {
    const { turn, stream } = this.#options;
    if (turn === undefined) return run();
    const write = this.#guarded("initial events", run);
    const start = (): void =>
      void turn(() => {
        this.#pieceBytes = 0;
        if (!this.#ended) write();
        return this.#pieceBytes;
      });
    const reserved = stream.reserve?.();
    if (reserved === undefined) start();
    else void reserved.then(start);
  }

  /**
   * Sends pieces; the next one after the socket has accepted the last, and other tasks have run.
   */
  #sendInitial(objects: Iterator<Entry | undefined>): void {
    const { converted, plan } = this.#options;
    const entries: Entry[] = [];
    let bytes = 0;
    let next = objects.next();
    for (; next.done !== true && next.value !== undefined; next = objects.next()) {
      entries.push(next.value);
      bytes += next.value.json.length;
      if (bytes >= pieceBytes) break;
    }
    const goOn = next.done === true ? (): void => this.#follow() : (): void => this.#sendMore(objects);
    const shown = converted === undefined ? entries : converted.show(entries);
    if (shown instanceof Promise)
      return this.#whenConverted(shown, (made) => this.#writeAdded(made.filter(plan.scope.selects ?? all), goOn));
    this.#writeAdded(plan.scope.selects === undefined ? shown : shown.filter(plan.scope.selects), goOn);
  }

  #writeAdded(entries: readonly Entry[], goOn: () => void): void {
    const { stream, encoder, firstDiffers, sent, memory } = this.#options;
    if (entries.length > 0) {
      const { bytes, sizes } = encoder.encodeAdded(entries, { isFirst: firstDiffers && this.#isFirst, memory });
      stream.write(bytes, () => memory.release(bytes));
      this.#pieceBytes += bytes.length;
      sent(sizes);
      this.#isFirst = false;
    } else stream.unreserve?.();
    goOn();
  }

  #sendMore(objects: Iterator<Entry | undefined>): void {
    const more = this.#guarded("initial events", () => {
      if (!this.#ended) this.#inTurn(() => this.#sendInitial(objects));
    });
    this.#whenDrained(() => setImmediate(more));
  }

  /** A conversion failure ends the watch, unless `failed` retries. */
  #whenConverted<T>(
    converting: Promise<T>,
    run: (made: T) => void,
    failed: (error: ApiError) => void = (error) => this.fail(error),
  ): void {
    this.#converting = true;
    const done = (made: T): void => {
      this.#converting = false;
      if (!this.#ended) run(made);
    };
    const rejected = (error: unknown): void => {
      if (this.#ended) return;
      if (error instanceof ApiError) failed(error);
      else this.#break(error);
    };
    converting.then(done, rejected).catch((error: unknown) => this.#break(error));
  }

  #follow(): void {
    const { cache, plan, bookmarks, started, listed } = this.#options;
    started();
    if (bookmarks) this.#after("bookmark", bookmarkMs, () => this.#bookmarkAgain());
    const end = plan.initialEventsEnd;
    const subscriber = {
      events: (batch: readonly CacheEvent[]): boolean => this.#receive(batch),
      progress:
        end === undefined
          ? undefined
          : this.#guarded("watch progress", (revision: number): void => {
              if (revision < end) return;
              subscriber.progress = undefined;
              this.#writeAlone(this.#bookmark(revision, { "k8s.io/initial-events-end": "true" }));
              listed();
            }),
      end: (error?: ApiError): void => (error === undefined ? this.end() : this.fail(error)),
    };
    try {
      this.#subscription = cache.subscribe(plan.from, subscriber, plan.scope.topic);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fail(error); // The initial events took longer than the cache keeps events.
    }
  }

  /** Like {@link guarded}, without a closure for each batch. */
  #receive(batch: readonly CacheEvent[]): boolean {
    try {
      this.#failing.entered?.("watch event");
      return this.#send(batch);
    } catch (error) {
      this.#break(error);
      return true;
    }
  }

  /** @returns false to pause delivery */
  #send(batch: readonly CacheEvent[]): boolean {
    const { converted } = this.#options;
    return converted === undefined
      ? this.#write(batch)
      : this.#sendConverted(batch, converted, { since: realClock(this.#options.clock).now(), delayMs: retryFirstMs });
  }

  /**
   * Retries for a while, as upstream's reflectors do; watchers without conversion are not affected.
   */
  #sendConverted(batch: readonly CacheEvent[], converted: ConvertedVersion, { since, delayMs }: Retry): boolean {
    const { plan, clock } = this.#options;
    const events = convertedEvents(converted, batch, { previous: plan.scope.selects !== undefined });
    if (!(events instanceof Promise)) return this.#write(events);
    const run = (made: readonly CacheEvent[]): void => {
      if (this.#write(made)) this.#subscription?.resume();
    };
    this.#whenConverted(events, run, (error) => {
      if (realClock(clock).now() + delayMs - since > retriedMs) return this.fail(error);
      this.#after(
        "conversion",
        delayMs,
        () => this.#sendConverted(batch, converted, { since, delayMs: delayMs * 2 }),
        realClock(clock),
      );
    });
    return false;
  }

  #write(batch: readonly CacheEvent[]): boolean {
    const { stream, encoder, firstDiffers, sent, plan, cache } = this.#options;
    const { excluded } = plan.scope;
    if (excluded !== undefined) for (const event of batch) cache.counts.excludedByShard += excluded(event);
    const encoded = firstDiffers && this.#isFirst ? encoder.encodeFirst(batch, true) : encoder.encode(batch);
    if (encoded === undefined) return true;
    this.#isFirst = false;
    sent(encoded.sizes);
    if (stream.write(encoded.bytes) || stream.pendingBytes <= pendingBytesMax) return true;
    this.#whenDrained(() => this.#subscription?.resume());
    return false;
  }

  /** Waits for the client to read, for a limited time. */
  #whenDrained(run: () => void): void {
    const { stream, cutOff, clock } = this.#options;
    const cut = (): void => {
      cutOff();
      stream.abort();
      this.end();
    };
    this.#after("stalled", stalledMs, cut, realClock(clock));
    const drained = this.#guarded("watch drained", () => {
      this.#cancel("stalled");
      if (!this.#ended) run();
    });
    void stream.drained().then(drained);
  }

  #bookmarkAgain(): void {
    this.#sendBookmark();
    this.#after("bookmark", bookmarkMs, () => this.#bookmarkAgain());
  }

  #sendBookmark(): void {
    const { cache } = this.#options;
    const revision = this.#subscription?.delivered ?? 0;
    if (this.#converting) return; // Its revision would cover events that are not sent yet.
    if (revision > 0 && revision <= cache.latest().revision) this.#writeAlone(this.#bookmark(revision));
  }

  #bookmark(revision: number, annotations?: Record<string, string>): Buffer {
    const { encoder, firstDiffers } = this.#options;
    const bytes = encoder.encodeBookmark(
      { resourceVersion: String(revision), ...(annotations && { annotations }) },
      firstDiffers && this.#isFirst,
    );
    this.#isFirst = false;
    return bytes;
  }

  #timeOut(): void {
    if (this.#options.bookmarks) this.#sendBookmark();
    this.end();
  }

  fail(error: ApiError): void {
    if (this.#ended) return;
    this.#writeAlone(this.#options.encoder.encodeError(statusBody(error.status)));
    this.end();
  }

  /** An unexpected error in a callback: the client must not take the watch for complete. */
  #break(error: unknown): void {
    if (this.#ended) return;
    this.#stop();
    this.#options.exchange.fail(error);
  }

  #guarded<Parameters extends readonly unknown[]>(
    stage: RequestStage,
    run: (...parameters: Parameters) => void,
  ): (...parameters: Parameters) => void {
    return guarded(this.#failing, stage, run);
  }

  /** Writes an event for this watcher only. */
  #writeAlone(bytes: Buffer): void {
    this.#options.stream.write(bytes);
    this.#options.sent([bytes.length]);
  }

  #after(name: string, delayMs: number, run: () => void, clock = this.#options.clock): void {
    this.#cancel(name);
    this.#cancels.set(name, clock.after(delayMs, this.#guarded("watch timer", run)));
  }

  #cancel(name: string): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }
}
