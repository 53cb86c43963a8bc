/** The memory of long responses, shared by the responses of a server. */
import type { Exchange } from "../../request/exchange.ts";
import { DeflatedParts } from "./deflated-parts.ts";
import { pieceBytes } from "./piece.ts";

/**
 * Reused buffers for pieces, shared by the responses of a server: allocating is more expensive than
 * writing.
 */
export class PieceMemory {
  /** Compressed parts of lists. */
  readonly deflated = new DeflatedParts();
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
 * Responses that are compressed at a time; further ones are not compressed, because each can wait for
 * a thread with a piece and zlib's memory, about 300 KiB.
 */
const gzipsMax = 256;
/** Free buffers that are kept. */
const freeMax = 16;
