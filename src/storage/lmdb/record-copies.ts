/**
 * Copies records out of a buffer that is reused. Small copies share allocations, because allocating
 * memory for each would double the time of a read. A copy keeps its whole allocation alive, so
 * allocations are small: records read together, as for a watch cache, mostly live equally long.
 */
const pieceBytes = 16 << 10;
/** Larger records get their own allocation. */
const sharedMax = pieceBytes / 4;

export class RecordCopies {
  #piece = Buffer.alloc(0);
  #used = 0;

  /** Copies the first `length` bytes of the source. */
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
