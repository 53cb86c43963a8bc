/** Keeps the newest entries of a timeline. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { RequestContext } from "../../http/contract.ts";
import type { ObjectChange } from "../../registry/contract.ts";
import type { WebhookReview } from "../../request/webhook-review.ts";
import type {
  Timeline,
  TimelineClock,
  TimelineEntry,
  TimelineFault,
  TimelineLimits,
  TimelineReview,
  TimelineServerWrite,
} from "./contract.ts";
import { formatEntries } from "./format.ts";
import { describeChange } from "./object-change.ts";
import { bounded, messageMax, objectBytes, RequestRecord } from "./request-record.ts";

const entriesMaxDefault = 20_000;
const bytesMaxDefault = 16 << 20;
/** Bytes of an entry that is no request, without objects, approximately. */
const smallEntryBytes = 300;

/** A timeline, and what records into it. */
export interface OpenTimeline extends Timeline {
  /** Records a request that begins; it ends when its exchange closes. */
  begin(context: RequestContext): RequestRecord;
  /** Records that a watch has ended; its exchange closes later. */
  ended(record: RequestRecord): void;
  /** Records a change that a request made. */
  changed(record: RequestRecord, change: ObjectChange): void;
  /** Records a write of the server itself. */
  wrote(change: ObjectChange): void;
  /** Records an event of a rule. */
  fault(event: Pick<TimelineFault, "action" | "rule" | "text">): void;
  /** Records a call of a webhook. */
  reviewed(review: WebhookReview): void;
  /** Records that a client moves the clock. */
  clock(text: string): void;
}

interface Kept {
  readonly sequence: number;
  readonly endSequence: number | undefined;
  readonly bytes: number;
  describe(): TimelineEntry;
}

/** The newest entries, within the limits. */
class KeptEntries {
  readonly #entriesMax: number;
  readonly #bytesMax: number;
  /** By sequence, oldest first. */
  readonly #entries = new Map<number, Kept>();
  #bytes = 0;
  #dropped = 0;

  constructor({ entriesMax = entriesMaxDefault, bytesMax = bytesMaxDefault }: TimelineLimits) {
    this.#entriesMax = entriesMax;
    this.#bytesMax = bytesMax;
  }

  get dropped(): number {
    return this.#dropped;
  }

  all(): Kept[] {
    return [...this.#entries.values()];
  }

  add<T extends Kept>(entry: T): T {
    this.#entries.set(entry.sequence, entry);
    this.#bytes += entry.bytes;
    this.#trim();
    return entry;
  }

  /** Counts what an entry uses in addition, if it is still kept. */
  grow(sequence: number, bytes: number): void {
    if (!this.#entries.has(sequence)) return;
    this.#bytes += bytes;
    this.#trim();
  }

  #trim(): void {
    for (const [sequence, entry] of this.#entries) {
      if (this.#entries.size <= this.#entriesMax && this.#bytes <= this.#bytesMax) return;
      this.#entries.delete(sequence);
      this.#bytes -= entry.bytes;
      this.#dropped++;
    }
  }
}

/** Creates a timeline. The oldest entries are dropped at its limits. */
export function openTimeline(clock: Clock, limits: TimelineLimits = {}): OpenTimeline {
  const kept = new KeptEntries(limits);
  let next = 1;
  const addSmall = (describe: (base: { sequence: number; at: number }) => TimelineEntry, more = 0): void => {
    const base = { sequence: next++, at: clock.now() };
    kept.add({
      sequence: base.sequence,
      endSequence: undefined,
      bytes: smallEntryBytes + more,
      describe: () => describe(base),
    });
  };
  const entries: Timeline["entries"] = ({ since = 0 } = {}) =>
    kept
      .all()
      .filter(({ sequence, endSequence = 0 }) => sequence >= since || endSequence >= since)
      .map((entry) => entry.describe());

  return {
    get dropped() {
      return kept.dropped;
    },
    mark: () => next,
    entries,
    openWatches: () =>
      kept.all().flatMap((one) => (one instanceof RequestRecord && one.isOpenWatch ? [one.describe()] : [])),
    format(options) {
      const lines = formatEntries(entries(options));
      return kept.dropped === 0 ? lines : `(${kept.dropped} older entries were dropped)\n${lines}`;
    },
    begin(context) {
      const record = kept.add(new RequestRecord(next++, context, clock));
      context.exchange.onClose(() => record.ended(next));
      return record;
    },
    ended: (record) => record.ended(next),
    changed(record, change) {
      if (objectBytes(change) === 0) return;
      kept.grow(record.sequence, record.changed(change));
    },
    wrote(change) {
      const bytes = objectBytes(change);
      if (bytes === 0) return;
      addSmall((base): TimelineServerWrite => ({ kind: "server", ...base, change: describeChange(change) }), bytes);
    },
    fault: (event) => addSmall((base): TimelineFault => ({ kind: "fault", ...base, ...event })),
    reviewed(review) {
      const entry = describeReview(review);
      addSmall((base): TimelineReview => ({ kind: "review", ...base, ...entry }), entry.message.length);
    },
    clock: (text) => addSmall((base): TimelineClock => ({ kind: "clock", ...base, text }), text.length),
  };
}

function describeReview(review: WebhookReview): WebhookReview {
  const isSecret = review.resource === "secrets" && review.group === "";
  const message = isSecret ? "" : bounded(review.message, messageMax);
  return { ...review, name: bounded(review.name), message, durationMs: Math.round(review.durationMs) };
}
