/**
 * Chooses when rejected clients of a priority level should retry: later while many are rejected.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/dropped_requests_tracker.go.
 */
const secondsMax = 32;

interface Second {
  /** Seconds since 1970. */
  readonly at: number;
  rejected: number;
}

/** The rejections of one priority level. */
export class RetryAfter {
  #seconds = 1;
  #increasedAt = Number.NEGATIVE_INFINITY;
  #now: Second = { at: Number.NEGATIVE_INFINITY, rejected: 0 };
  #history: Second[] = [];

  /**
   * Counts a rejected request.
   * @param second since 1970
   * @returns the seconds that the client should wait
   */
  reject(second: number): number {
    if (this.#now.at === second) {
      this.#now.rejected += 1;
      return this.#seconds;
    }
    this.#keepHistory();
    this.#now = { at: second, rejected: 1 };
    this.#adapt(second);
    return this.#seconds;
  }

  #keepHistory(): void {
    const { at } = this.#now;
    const kept = Math.min(2 * this.#seconds, secondsMax);
    this.#history.push(this.#now);
    this.#history = this.#history.filter((one) => at - one.at <= kept);
  }

  /** Doubles the time, or reduces it by a second, as TCP does with its window. */
  #adapt(second: number): void {
    const seconds = this.#seconds;
    let rejected = 0;
    for (const one of this.#history) if (second - one.at <= seconds && one.at < second) rejected += one.rejected;
    if (second - this.#increasedAt >= seconds && rejected >= 3 * seconds) {
      this.#seconds = Math.min(2 * seconds, secondsMax);
      this.#increasedAt = second;
    } else if (rejected < seconds && seconds > 1) this.#seconds -= 1;
  }
}
