/**
 * Long responses are encoded and written in pieces, so that neither memory nor the delay of other
 * requests grows with them.
 */

import { send, stream } from "../../request/answer.ts";
import type { BodyStream } from "../../request/exchange.ts";
import { gzipThresholdBytes } from "../../request/gzip.ts";
import type { RequestContext } from "../contract.ts";
import { CompressedPieces } from "./compressed-pieces.ts";
import { isEmpty, type Piece } from "./piece.ts";
import type { PieceMemory } from "./piece-memory.ts";

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
    while (!response.isComplete) {
      const pending = context.turn === undefined ? void response.step() : context.turn(() => response.step());
      if (pending !== undefined) await pending;
      if (!response.isComplete) await response.accepted();
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
  /** Pieces before it is known how the response is sent. */
  #held: Piece[] = [];
  #heldBytes = 0;
  /** Unset until it is known that the response has several pieces. */
  #body: BodyStream | undefined;
  /** Set for a compressed response. */
  #compressed: CompressedPieces | undefined;
  #isAccepted = true;
  /** Whether the last piece was written, or the client has gone. */
  isComplete = false;

  constructor(context: RequestContext, pieces: Generator<Piece, void, void>, memory: PieceMemory) {
    this.#context = context;
    this.#pieces = pieces;
    this.#memory = memory;
  }

  /** Reads the first pieces, and then encodes and writes one each time. @returns the bytes of this work */
  step(): number {
    this.#context.exchange.entered?.("write piece");
    if (this.#body === undefined) return this.#start();
    if (this.#context.exchange.closed) {
      this.isComplete = true;
      return 0;
    }
    return this.#compressed?.step() ?? this.#write(this.#body);
  }

  #start(): number {
    const context = this.#context;
    const { mediaType } = context.representation.encoding;
    const piece = this.#pieces.next().value as Piece;
    if (isEmpty(piece)) return 0;
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (piece.last && (this.#held.length === 1 || this.#heldBytes <= gzipThresholdBytes)) {
      const encoded = this.#held.map((held) => held.encode());
      send(context, 200, mediaType, encoded.length === 1 ? (encoded[0] as Buffer) : Buffer.concat(encoded));
      this.isComplete = true;
      return this.#heldBytes;
    }
    // It may not be known yet whether the response is long enough for compression.
    if (context.gzip && this.#heldBytes <= gzipThresholdBytes) return 0;
    const compressed = context.gzip && this.#memory.takeGzip(context.exchange);
    if (compressed)
      this.#compressed = new CompressedPieces(
        () => this.#next(),
        (bytes) => this.#memory.release(bytes),
      );
    this.#body = stream(context, mediaType, { compressed });
    return 0;
  }

  #next(): Piece {
    return this.#held.shift() ?? (this.#pieces.next().value as Piece);
  }

  #write(body: BodyStream): number {
    const piece = this.#next();
    this.#isAccepted = true;
    if (isEmpty(piece)) return 0;
    const bytes = piece.encode();
    this.#isAccepted = piece.last ? body.write(bytes) : body.write(bytes, () => this.#memory.release(bytes));
    if (piece.last) this.#end(body);
    return bytes.length;
  }

  #end(body: BodyStream): void {
    body.end();
    this.isComplete = true;
  }

  /** Waits until the connection accepts more, and yields to other requests in any case. */
  async accepted(): Promise<void> {
    if (this.#body === undefined) return turn();
    if (this.#compressed !== undefined) return this.#writeCompressed(this.#body, this.#compressed);
    await (this.#isAccepted ? turn() : this.#body.drained());
    await this.#reserve();
  }

  /** Writes what is compressed, if it is enough. */
  async #writeCompressed(body: BodyStream, compressed: CompressedPieces): Promise<void> {
    await (compressed.isEncoded ? compressed.compress() : turn());
    this.#context.exchange.entered?.("compressed");
    if (!compressed.isFull && !compressed.isEnded) return;
    if (!this.#isAccepted) await body.drained();
    await this.#reserve();
    this.#isAccepted = body.write(compressed.take());
    if (compressed.isEnded) this.#end(body);
  }

  /** Waits for a slot of a connection that others may share. */
  async #reserve(): Promise<void> {
    const reserved = this.#context.turn === undefined ? undefined : this.#body?.reserve?.();
    if (reserved !== undefined) await reserved;
  }

  abort(): void {
    this.#body?.abort();
  }
}

/** Yields to other requests. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
