/** Deletes keys whose time is over, a bounded number in one commit. */
import type { Clock } from "../../apimachinery/clock.ts";
import { StorageUnavailable } from "../contract.ts";
import type { Expiry, Ledger } from "./ledger.ts";

/** Fewer than the writes one commit may have. */
const togetherMax = 100;
/** After a failure; the disk may have recovered by then. */
const retryMs = 1000;
/** Timers cannot be longer than 2^31 ms. */
const delayMaxMs = 86_400_000;

export interface ExpirerOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Deletes the keys that still are as they were when their expiry was set, and forgets the expiries. @throws StorageUnavailable */
  expire(due: readonly Expiry[]): Promise<void>;
}

export class Expirer {
  readonly #options: ExpirerOptions;
  /** When the timer fires; infinite when there is none. */
  #firesAt = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #running = false;
  #closed = false;

  constructor(options: ExpirerOptions) {
    this.#options = options;
    this.#schedule(options.ledger.expiries(1)[0]?.at);
  }

  /** A key will expire then. */
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
    this.#cancel = this.#options.clock.after(delay, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { ledger, clock, expire } = this.#options;
    this.#running = true;
    let next: number | undefined;
    try {
      for (;;) {
        const first = ledger.expiries(togetherMax);
        const now = clock.now();
        const due = first.filter(({ at }) => at <= now);
        next = first[due.length]?.at;
        if (due.length === 0 || this.#closed) break;
        await expire(due);
        if (this.#closed) break;
      }
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      next = clock.now() + retryMs;
    }
    this.#running = false;
    this.#schedule(next);
  }
}
