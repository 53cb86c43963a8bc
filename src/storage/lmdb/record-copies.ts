/**
 * Copies of records out of a buffer that is used again. Small ones share pieces of memory: a piece for each takes as long as the rest of a read.
 * A copy keeps its whole piece, so pieces are small: what was read together, as into a watch cache, is mostly kept together.
 */
const pieceBytes = 16 << 10;
/** Larger ones have a piece of their own. */
const sharedMax = pieceBytes / 4;

export class RecordCopies {
  #piece = Buffer.alloc(0);
  #used = 0;

  /** @param source its first `length` bytes */
  copy(source: Buffer, length: number): Buffer {
    if (length > sharedMax) return copyInto(Buffer.allocUnsafeSlow(length), 0, source, length);
    if (this.#used + length > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(pieceBytes);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    return copyInto(this.#piece, start, source, length);
  }
}

function copyInto(piece: Buffer, start: number, source: Buffer, length: number): Buffer {
  source.copy(piece, start, 0, length);
  return piece.subarray(start, start + length);
}
