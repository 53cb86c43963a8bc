/** Deletes keys whose time to live has ended, a bounded number in one commit. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { StorageUnavailable } from "../contract.ts";
import type { Expiry, Ledger } from "./ledger.ts";

/** Keys deleted in one commit; below the maximum writes of a commit. */
const batchMax = 100;
/** Delay after a failed read or write. */
const retryMs = 1000;
/** The longest delay of the timer; Node's limit is 2^31 - 1 ms. */
const delayMaxMs = 86_400_000;

interface ExpirerOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  /**
   * Deletes the keys that have not changed since their expiry was set, and removes the expiries.
   * @throws Error when the keys cannot be read, or the write fails
   */
  expire(due: readonly Expiry[]): Promise<void>;
}

export class Expirer {
  readonly #options: ExpirerOptions;
  /** When the timer fires, in milliseconds since 1970; infinite without a timer. */
  #firesAt = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #running = false;
  /** The last read failed. */
  #failed = false;
  #closed = false;

  constructor(options: ExpirerOptions) {
    this.#options = options;
    this.#schedule(options.ledger.expiries(1)[0]?.at);
  }

  /** Starts the timer earlier when needed, because a key expires at this time. */
  expect(at: number): void {
    if (!this.#running && at < this.#firesAt) this.#schedule(at);
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #schedule(at: number | undefined): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#firesAt = at ?? Number.POSITIVE_INFINITY;
    if (at === undefined || this.#closed) return;
    const delay = Math.min(Math.max(at - this.#options.clock.now(), 0), delayMaxMs);
    this.#cancel = this.#options.clock.after(delay, () => this.#run());
  }

  async #run(): Promise<void> {
    const { ledger, clock, logger, expire } = this.#options;
    this.#running = true;
    let next: number | undefined;
    try {
      for (;;) {
        const first = ledger.expiries(batchMax);
        const now = clock.now();
        const due = first.filter(({ at }) => at <= now);
        next = first[due.length]?.at;
        if (due.length === 0 || this.#closed) break;
        await expire(due);
        if (this.#closed) break;
      }
      this.#failed = false;
    } catch (error) {
      // Failed writes are logged already.
      const isRead = !(error instanceof StorageUnavailable);
      if (isRead && !this.#failed) logger?.warn("Could not delete expired keys, retrying", { error: String(error) });
      this.#failed = isRead;
      next = clock.now() + retryMs;
    }
    this.#running = false;
    this.#schedule(next);
  }
}
