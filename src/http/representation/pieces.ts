/**
 * Long responses are encoded and written in pieces, so that neither memory nor the delay of other
 * requests grows with them.
 */

import { send, stream } from "../../request/answer.ts";
import type { BodyStream } from "../../request/exchange.ts";
import { gzipThresholdBytes } from "../../request/gzip.ts";
import type { RequestContext } from "../contract.ts";
import type { Piece, PieceMemory } from "./piece-memory.ts";

/**
 * Sends a response at once if it fits in one piece; otherwise streams it, and yields to other
 * requests between pieces.
 * @param memory receives the buffers of written pieces
 */
export async function sendPieces(
  context: RequestContext,
  pieces: Generator<Piece, void, void>,
  memory: PieceMemory,
): Promise<void> {
  const response = new PiecedResponse(context, pieces, memory);
  try {
    for (;;) {
      const pending = context.turn === undefined ? void response.step() : context.turn(() => response.step());
      if (pending !== undefined) await pending;
      if (response.isComplete) return;
      await response.accepted();
    }
  } catch (error) {
    response.abort(); // The client must not accept a truncated response as complete.
    throw error;
  }
}

class PiecedResponse {
  readonly #context: RequestContext;
  readonly #pieces: Generator<Piece, void, void>;
  readonly #memory: PieceMemory;
  /** A piece that is encoded and not written. */
  #held: Piece | undefined;
  /** Unset until it is known that the response has several pieces. */
  #body: BodyStream | undefined;
  #isAccepted = true;
  /** Whether the last piece was written, or the client has gone. */
  isComplete = false;

  constructor(context: RequestContext, pieces: Generator<Piece, void, void>, memory: PieceMemory) {
    this.#context = context;
    this.#pieces = pieces;
    this.#memory = memory;
  }

  /** Encodes the first piece, and then encodes and writes a piece each time. @returns its bytes */
  step(): number {
    this.#context.exchange.entered?.("write piece");
    if (this.#body === undefined) return this.#start();
    if (this.#context.exchange.closed) {
      this.isComplete = true;
      return 0;
    }
    const { bytes, last } = this.#held ?? this.#next();
    this.#held = undefined;
    this.isComplete = last;
    this.#isAccepted = true;
    if (bytes.length === 0 && !last) return 0;
    this.#isAccepted = last ? this.#body.write(bytes) : this.#body.write(bytes, () => this.#memory.release(bytes));
    if (last) this.#body.end();
    return bytes.length;
  }

  #start(): number {
    const context = this.#context;
    const { mediaType } = context.representation.encoding;
    const piece = this.#held === undefined ? this.#next() : joined(this.#held, this.#next(), this.#memory);
    if (piece.last) {
      send(context, 200, mediaType, piece.bytes);
      this.isComplete = true;
      return piece.bytes.length;
    }
    if (piece.bytes.length === 0) return 0;
    this.#held = piece;
    // It may not be known yet whether the response is long enough for compression.
    if (context.gzip && piece.bytes.length <= gzipThresholdBytes) return 0;
    this.#body = stream(context, mediaType, { compressed: context.gzip && this.#memory.takeGzip(context.exchange) });
    return 0;
  }

  #next(): Piece {
    return this.#pieces.next().value as Piece;
  }

  /** Waits until the connection accepts more, and yields to other requests in any case. */
  async accepted(): Promise<void> {
    if (this.#isAccepted || this.#body === undefined) await turn();
    else await this.#body.drained();
    const reserved = this.#context.turn === undefined ? undefined : this.#body?.reserve?.();
    if (reserved !== undefined) await reserved;
  }

  abort(): void {
    this.#body?.abort();
  }
}

function joined(first: Piece, second: Piece, memory: PieceMemory): Piece {
  const bytes = Buffer.concat([first.bytes, second.bytes]);
  memory.release(first.bytes);
  memory.release(second.bytes);
  return { bytes, last: second.last };
}

/** Yields to other requests. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
