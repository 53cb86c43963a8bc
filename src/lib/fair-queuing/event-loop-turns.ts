/**
 * What concurrency means on one event loop. Seats limit requests that wait for something. Requests
 * that only compute never overlap, so they would get the loop in the order in which they arrive;
 * here they get it in turns that are fair by level and flow.
 */
import { FairTurns, type TurnShare } from "./fair-turns.ts";

/** The time of requests that start in one turn. */
const requestsSliceMs = 1;
/** What a request is charged: about that of a get. Its time is spread over steps and not measured. */
const requestMs = 1 / 16;

/**
 * The time of pieces of long responses that are written in one turn: that of one large piece. More
 * would not be faster: while a piece is encrypted and sent, its bytes are in the processor's cache.
 */
const piecesSliceMs = 0.15;
/** What encrypting and sending takes, after the work, where it cannot be measured. */
const msPerByte = 1.6 / (1 << 20);

/** The options of {@link EventLoopTurns}. */
export interface EventLoopOptions {
  /** Milliseconds with fractions. */
  readonly now: () => number;
  /** Calls `run` once after new requests were read: `setImmediate`. */
  readonly nextTurn: (run: () => void) => void;
}

/** Turns of requests, and of pieces of long responses, which do not delay requests. */
export class EventLoopTurns {
  readonly #now: () => number;
  readonly #requests: FairTurns;
  readonly #pieces: FairTurns;

  constructor({ now, nextTurn }: EventLoopOptions) {
    this.#now = now;
    this.#requests = new FairTurns({ nextTurn, sliceMs: requestsSliceMs });
    this.#pieces = new FairTurns({ nextTurn, sliceMs: piecesSliceMs });
  }

  /** @returns undefined if the request can start; else a promise that resolves when it can */
  request(share: TurnShare): Promise<void> | undefined {
    return this.#requests.run(share, chargeOfRequest);
  }

  /**
   * Runs work that writes a piece of a long response.
   * @param work returns the bytes that it wrote
   * @returns undefined if it has run; else a promise that resolves when it has, or rejects
   */
  piece(share: TurnShare, work: () => number): Promise<void> | undefined {
    return this.#pieces.run(share, () => {
      const startedAt = this.#now();
      const bytes = work();
      return this.#now() - startedAt + bytes * msPerByte;
    });
  }
}

const chargeOfRequest = (): number => requestMs;
