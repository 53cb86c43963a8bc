/** Items of a new piece; a piece of twice the size is split. */
const pieceItems = 1024;

/** A long list in pieces, so that insertion and removal move only the items of one piece. */
export class LongList {
  readonly #pieces: unknown[][] = [];
  length: number;

  constructor(items: readonly unknown[]) {
    for (let at = 0; at < items.length; at += pieceItems) this.#pieces.push(items.slice(at, at + pieceItems));
    this.length = items.length;
  }

  at(index: number): unknown {
    const { piece, offset } = this.#find(index);
    return piece[offset];
  }

  set(index: number, value: unknown): void {
    const { piece, offset } = this.#find(index);
    piece[offset] = value;
  }

  /** @param index at most the length, which appends */
  insert(index: number, value: unknown): void {
    const { piece, offset, place } = this.#find(index);
    piece.splice(offset, 0, value);
    this.length++;
    if (piece.length >= 2 * pieceItems) this.#pieces.splice(place + 1, 0, piece.splice(pieceItems));
  }

  remove(index: number): void {
    const { piece, offset, place } = this.#find(index);
    piece.splice(offset, 1);
    this.length--;
    if (piece.length === 0 && this.#pieces.length > 1) this.#pieces.splice(place, 1);
  }

  /** Replaces the content of an array by all items. */
  writeTo(array: unknown[]): void {
    array.length = 0;
    for (const piece of this.#pieces) for (const item of piece) array.push(item);
  }

  #find(index: number): { readonly piece: unknown[]; readonly offset: number; readonly place: number } {
    let offset = index;
    let place = 0;
    for (; place < this.#pieces.length - 1; place++) {
      const { length } = this.#pieces[place] as unknown[];
      if (offset < length) break;
      offset -= length;
    }
    return { piece: this.#pieces[place] as unknown[], offset, place };
  }
}
