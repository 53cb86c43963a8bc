/** The time during which this server holds a lease. */
import { type ApiError, serviceUnavailable } from "../../apimachinery/errors.ts";
import type { WriteFence } from "../../registry/contract.ts";
import type { Check, Stored } from "../../storage/contract.ts";
import type { LeaseLock } from "./contract.ts";

interface TermOptions {
  readonly lock: LeaseLock;
  readonly identity: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly renewDeadlineMs: number;
  /** Called once when the term ends. */
  readonly ended: (reason: string) => void;
}

/**
 * Permits writes while the Lease is in the state of this holder, and was renewed in time. Each commit
 * checks the Lease, so that nothing is written after another client has changed the holder or
 * deleted the Lease, even before this server notices.
 */
export class Term implements WriteFence {
  readonly #options: TermOptions;
  #revision: number;
  #renewedAt: number;
  #isOver = false;

  constructor(options: TermOptions, revision: number, renewedAt: number) {
    this.#options = options;
    this.#revision = revision;
    this.#renewedAt = renewedAt;
  }

  /** When the term ends unless it is renewed, in milliseconds since 1970. */
  get endsAt(): number {
    return this.#renewedAt + this.#options.renewDeadlineMs;
  }

  /** @param at when the renewal began */
  renewed(revision: number, at: number): void {
    this.#revision = Math.max(this.#revision, revision);
    this.#renewedAt = at;
  }

  check(): Check {
    if (!this.#isOver && this.#options.now() >= this.endsAt) this.end("not renewed in time");
    if (this.#isOver) throw this.#lost();
    return { key: this.#options.lock.key, revision: this.#revision };
  }

  changed(current: Stored | undefined): void {
    const { lock, identity } = this.#options;
    const holder = current && lock.holderOf(current);
    if (current !== undefined && holder === identity) {
      this.#revision = Math.max(this.#revision, current.revision);
      return;
    }
    this.end(current === undefined ? "the lease was deleted" : "the lease has another holder");
    throw this.#lost();
  }

  /** Rejects further writes. */
  end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.ended(reason);
  }

  #lost(): ApiError {
    return serviceUnavailable(`this server does not hold the lease ${this.#options.lock.description}`);
  }
}
