/** Caches the responses of authorization webhooks. */
import { hash } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";

/** The status of a SubjectAccessReview. */
export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
}

/**
 * The capacity of upstream's cache:
 * k8s.io/apiserver@v0.36.0/plugin/pkg/authorizer/webhook/webhook.go.
 */
const entriesMax = 8192;
/** In characters; responses with a longer reason are not cached. */
const reasonMax = 10_000;

interface CachedStatus {
  readonly status: ReviewStatus;
  readonly until: number;
}

/**
 * A cache that evicts the least recently used entry. Keys are hashes of the encoded reviews, to
 * limit memory.
 */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #entries = new Map<string, CachedStatus>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param review the encoded review */
  find(review: string): ReviewStatus | undefined {
    const key = keyOf(review);
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    this.#entries.delete(key);
    if (found.until <= this.#clock.now()) return undefined;
    this.#entries.set(key, found); // Moves it to the end.
    return found.status;
  }

  /** @param review the encoded review */
  set(review: string, status: ReviewStatus, ttlMs: number): void {
    if (ttlMs <= 0 || status.reason.length > reasonMax) return;
    const key = keyOf(review);
    this.#entries.delete(key);
    this.#entries.set(key, { status, until: this.#clock.now() + ttlMs });
    if (this.#entries.size > entriesMax) this.#entries.delete(this.#entries.keys().next().value as string);
  }
}

function keyOf(review: string): string {
  return hash("sha256", review, "base64");
}
