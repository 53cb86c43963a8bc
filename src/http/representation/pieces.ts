/**
 * Long responses are encoded and written in pieces, so that neither memory nor the delay of other
 * requests grows with them.
 */
import type { BodyStream, Exchange, RequestContext } from "../contract.ts";
import { send, stream } from "../respond.ts";
import { gzipThresholdBytes } from "./gzip.ts";

/**
 * Part of a response. In compact JSON it ends outside of strings; the last part ends with a
 * newline.
 */
export interface Piece {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/**
 * The size at which a piece is written. A response needs a few of them at a time, whatever its
 * length.
 */
export const pieceBytes = 128 << 10;

/**
 * Reused buffers for pieces, shared by the responses of a server: allocating is more expensive than
 * writing.
 */
export class PieceMemory {
  readonly #free: Buffer[] = [];
  #gzips = 0;

  /** @returns a buffer of this length, with undefined content */
  take(length: number): Buffer {
    if (length > bufferBytes) return Buffer.allocUnsafeSlow(length);
    const buffer = this.#free.pop();
    if (buffer !== undefined) return buffer.subarray(0, length);
    return length < pieceBytes / 2
      ? Buffer.allocUnsafeSlow(length)
      : Buffer.allocUnsafeSlow(bufferBytes).subarray(0, length);
  }

  /**
   * Reserves one of the concurrent compressions, until the exchange closes.
   * @returns false when all are in use
   */
  takeGzip(exchange: Exchange): boolean {
    if (this.#gzips >= gzipsMax) return false;
    this.#gzips++;
    exchange.onClose(() => this.#gzips--);
    return true;
  }

  /** Returns a buffer that is no longer read. Ignores buffers of other sizes. */
  release({ buffer }: Buffer): void {
    if (buffer.byteLength === bufferBytes && this.#free.length < freeMax) this.#free.push(Buffer.from(buffer));
  }
}

/** A piece, with space for the end of its last item. */
const bufferBytes = pieceBytes + (8 << 10);
/**
 * Concurrent compressions; further responses are not compressed, because stalled clients hold
 * zlib's memory, about 300 KiB each.
 */
const gzipsMax = 256;
/** Free buffers that are kept. */
const freeMax = 16;

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
  const { mediaType } = context.representation.encoding;
  const next = (): Piece => pieces.next().value as Piece;
  let piece = next();
  while (context.gzip && !piece.last && piece.bytes.length <= gzipThresholdBytes) {
    await turn(); // It is not known yet whether the response is long enough for compression.
    piece = joined(piece, next(), memory);
  }
  if (piece.last) return send(context, 200, mediaType, piece.bytes);
  const body = stream(context, mediaType, { compressed: context.gzip && memory.takeGzip(context.exchange) });
  try {
    while (!piece.last) {
      await writePiece(body, piece.bytes, memory);
      if (context.exchange.closed) return;
      piece = next();
    }
  } catch (error) {
    body.abort(); // The client must not accept a truncated response as complete.
    throw error;
  }
  body.write(piece.bytes);
  body.end();
}

function joined(first: Piece, second: Piece, memory: PieceMemory): Piece {
  const bytes = Buffer.concat([first.bytes, second.bytes]);
  memory.release(first.bytes);
  memory.release(second.bytes);
  return { bytes, last: second.last };
}

/** Waits until the socket accepts more, and yields to other requests in any case. */
async function writePiece(body: BodyStream, bytes: Buffer, memory: PieceMemory): Promise<void> {
  if (body.write(bytes, () => memory.release(bytes))) await turn();
  else await body.drained();
}

/** Yields to other requests. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
