/** Notices when the event loop is blocked, and which request blocked it. */
import type { Exchange } from "../../request/exchange.ts";
import type { WorkObserver } from "./contract.ts";

/** A time in which the event loop did nothing else. */
export interface Block {
  readonly blockedMs: number;
  /** The request that ran; undefined if other work ran, such as that of a controller. */
  readonly exchange: Exchange | undefined;
}

/** Shorter blocks are not reported. */
const blockedMsMin = 250;

/** The time between two calls of `tick`. */
export const tickMs = 50;

/**
 * Compares the times at which the event loop was seen running: the ticks of a timer, the beginnings
 * of requests, the ends of their bodies, and their answers. A request needs no memory and no timer.
 */
export class LoopWatch implements WorkObserver {
  readonly #now: () => number;
  readonly #blocked: (block: Block) => void;
  /** When the event loop was seen last, in milliseconds since any fixed time. */
  #seenAt: number;
  /** The request whose work began then. */
  #exchange: Exchange | undefined;

  /** @param now milliseconds since any fixed time @param blocked must not throw */
  constructor(now: () => number, blocked: (block: Block) => void) {
    this.#now = now;
    this.#blocked = blocked;
    this.#seenAt = now();
  }

  begins(exchange: Exchange): void {
    this.#see(0, this.#exchange);
    this.#exchange = exchange;
  }

  /** The request that answers after a block has computed its answer in it, unless another one began. */
  answers(exchange: Exchange): void {
    this.#see(0, this.#exchange ?? exchange);
  }

  /** Must be called each `tickMs`. Without a request, the loop has waited until this call was due. */
  tick(): void {
    this.#see(this.#exchange === undefined ? tickMs : 0, this.#exchange);
  }

  /** @param idleMs the part of the time in which the loop waited */
  #see(idleMs: number, exchange: Exchange | undefined): void {
    const now = this.#now();
    const blockedMs = now - this.#seenAt - idleMs;
    this.#seenAt = now;
    this.#exchange = undefined;
    if (blockedMs > blockedMsMin) this.#blocked({ blockedMs, exchange });
  }
}
