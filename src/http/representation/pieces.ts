/** Answers that may be long are made and written in pieces, so that neither their memory nor the time others wait grows with them. */
import type { BodyStream, Exchange, RequestContext } from "../contract.ts";
import { send, stream } from "../respond.ts";
import { gzipThresholdBytes } from "./gzip.ts";

/** Part of an answer. A part of compact JSON ends between its strings, and the last one with a newline. */
export interface Piece {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/** Bytes after which a piece is written. One answer needs a few of them, however long it is. */
export const pieceBytes = 128 << 10;

/** What pieces are made in, again and again, shared by the answers of a server: fresh memory costs more than what is written to it. */
export class PieceMemory {
  readonly #free: Buffer[] = [];
  #gzips = 0;

  /** @returns so many bytes, whatever is in them */
  take(length: number): Buffer {
    if (length > bufferBytes) return Buffer.allocUnsafeSlow(length);
    const buffer = this.#free.pop();
    if (buffer !== undefined) return buffer.subarray(0, length);
    return length < pieceBytes / 2
      ? Buffer.allocUnsafeSlow(length)
      : Buffer.allocUnsafeSlow(bufferBytes).subarray(0, length);
  }

  /** A place among the answers that are compressed at a time, until the exchange closes. @returns false when there is none */
  takeGzip(exchange: Exchange): boolean {
    if (this.#gzips >= gzipsMax) return false;
    this.#gzips++;
    exchange.onClose(() => this.#gzips--);
    return true;
  }

  /** Nobody reads them any more. Taken elsewhere, they are left alone. */
  release({ buffer }: Buffer): void {
    if (buffer.byteLength === bufferBytes && this.#free.length < freeMax) this.#free.push(Buffer.from(buffer));
  }
}

/** A piece, and what goes beyond it with its last item. */
const bufferBytes = pieceBytes + (8 << 10);
/** Answers that are compressed at a time; further ones are not, since clients that stall hold zlib's memory, some 300 KiB each. */
const gzipsMax = 256;
/** Buffers that are kept for the next piece. */
const freeMax = 16;

/** Answers in one go when it all fits in one piece, and streams otherwise, letting others run between pieces. @param memory gets back what pieces were made in */
export async function sendPieces(
  context: RequestContext,
  pieces: Generator<Piece, void, void>,
  memory: PieceMemory,
): Promise<void> {
  const { mediaType } = context.representation.encoding;
  const next = (): Piece => pieces.next().value as Piece;
  let piece = next();
  while (context.gzip && !piece.last && piece.bytes.length <= gzipThresholdBytes) {
    await turn(); // Whether the answer is long enough to be compressed is not known yet.
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
    body.abort(); // The reader must not take the half for the whole.
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

/** Waits until the socket takes more, and lets other requests run in any case. */
async function writePiece(body: BodyStream, bytes: Buffer, memory: PieceMemory): Promise<void> {
  if (body.write(bytes, () => memory.release(bytes))) await turn();
  else await body.drained();
}

/** Lets others run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
