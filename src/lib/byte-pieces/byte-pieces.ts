/** Collects the pieces of a body of unknown length. */

/** So many pieces become one: a Buffer of one byte takes more than a hundred bytes of memory. */
const recentMax = 256;

/** Bytes in the order in which they arrive. Pieces of any size take about the memory of their bytes. */
export class BytePieces {
  readonly #joined: Buffer[] = [];
  readonly #recent: Buffer[] = [];
  #length = 0;

  /** The number of bytes, those that were dropped included. */
  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#recent.push(piece) < recentMax) return;
    this.#joined.push(Buffer.concat(this.#recent));
    this.#recent.length = 0;
  }

  /** Drops what was collected, and counts on. */
  drop(): void {
    this.#joined.length = 0;
    this.#recent.length = 0;
  }

  /** @returns all bytes; the piece itself if there is only one */
  join(): Buffer {
    const pieces = [...this.#joined, ...this.#recent];
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }
}
