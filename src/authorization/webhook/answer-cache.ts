/** What webhooks answered, for as long as it may be used. Source: access-control §5.3 and §8. */
import { hash } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
}

/** Upstream's number. */
const entriesMax = 8192;
/** Longer reasons are not kept. */
const reasonMax = 10_000;

interface Kept {
  readonly status: ReviewStatus;
  readonly until: number;
}

/** Of those that were used longest ago, the first goes when there is no room. Questions are kept as their hashes, which are short. */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(question: string): ReviewStatus | undefined {
    const key = keyOf(question);
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    if (found.until <= this.#clock.now()) return undefined;
    this.#kept.set(key, found); // The youngest now.
    return found.status;
  }

  keep(question: string, status: ReviewStatus, ttlMs: number): void {
    if (ttlMs <= 0 || status.reason.length > reasonMax) return;
    const key = keyOf(question);
    this.#kept.delete(key);
    this.#kept.set(key, { status, until: this.#clock.now() + ttlMs });
    if (this.#kept.size > entriesMax) this.#kept.delete(this.#kept.keys().next().value as string);
  }
}

function keyOf(question: string): string {
  return hash("sha256", question, "base64");
}
