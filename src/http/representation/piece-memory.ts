/** The pieces of long responses, and the buffers that hold them. */
import type { Exchange } from "../../request/exchange.ts";

/**
 * Part of a response. In compact JSON it ends outside of strings; the last part ends with a
 * newline. One that is empty and not the last lets others be served.
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
