/** Which old states a cache rejects. */
import type { EventRing } from "./event-ring.ts";
import { ListedRevisions } from "./listed-revisions.ts";

interface WindowOptions {
  readonly historyMs: number;
  readonly clock: { now(): number };
}

/** The history window of one cache. */
export class HistoryWindow {
  readonly #options: WindowOptions;
  /** States before this revision are rejected. */
  #compacted = 0;
  #listed: ListedRevisions;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#listed = new ListedRevisions(options.historyMs);
  }

  /** Begins with the state of a cache that was loaded. */
  start(revision: number): void {
    this.#listed = new ListedRevisions(this.#options.historyMs);
    this.listed(revision);
  }

  /** A client receives the state. */
  listed(revision: number): void {
    this.#listed.add(revision, this.#options.clock.now());
  }

  /** The store was compacted to the revision. */
  forgetBefore(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
  }

  /** The store has another history, of which nothing was compacted. */
  startOver(): void {
    this.#compacted = 0;
  }

  /** Whether the state at the revision was superseded before the window. @param ring with all events so far */
  isExpired(revision: number, ring: EventRing): boolean {
    const at = ring.supersededAt(revision);
    return at !== undefined && this.isBefore(at);
  }

  /** Whether exact lists of the state are rejected. @param ring with all events so far */
  isForgotten(revision: number, ring: EventRing): boolean {
    if (revision < this.#compacted) return true;
    const listed = this.#listed.find(revision);
    // The first event of the resource that made this state, or replaced it.
    const [madeAt, replacedAt] = [revision - 1, revision].map((before) => ring.supersededAt(before));
    const at = listed?.isOwn
      ? listed.until
      : Math.min(...[listed?.until, madeAt, replacedAt].map((time) => time ?? Number.POSITIVE_INFINITY));
    if (at === Number.POSITIVE_INFINITY) this.listed(revision);
    return this.isBefore(at);
  }

  /** Whether a time is before the window. */
  isBefore(at: number): boolean {
    return this.#options.clock.now() - at >= this.#options.historyMs;
  }
}
