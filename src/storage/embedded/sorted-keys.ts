import { compareKeys } from "./key-order.ts";

/** Maximum keys of a block; a full block is split in two. */
const blockMax = 512;

/** A sorted set of keys. Adding and deleting move at most one block and the list of blocks. */
export class SortedKeys {
  /** Blocks are never empty. */
  readonly #blocks: string[][] = [];

  /** @param key must not be in the set */
  add(key: string): void {
    const index = Math.max(this.#blockOf(key), 0);
    const block = this.#blocks[index];
    if (block === undefined) {
      this.#blocks.push([key]);
      return;
    }
    block.splice(position(block, key), 0, key);
    // Appended keys fill blocks completely instead of leaving them half empty.
    if (block.length > blockMax)
      this.#blocks.splice(index + 1, 0, block.splice(block.at(-1) === key ? blockMax : blockMax / 2));
  }

  /** @param key must be in the set */
  delete(key: string): void {
    const index = this.#blockOf(key);
    const block = this.#blocks[index] as string[];
    block.splice(position(block, key), 1);
    if (block.length === 0) this.#blocks.splice(index, 1);
  }

  /**
   * Iterates over the keys at or after `from`, in order. The set must not change during the
   * iteration.
   */
  *from(from: string): IterableIterator<string> {
    const first = Math.max(this.#blockOf(from), 0);
    for (let index = first; index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as string[];
      for (let at = index === first ? position(block, from) : 0; at < block.length; at++) yield block[at] as string;
    }
  }

  /**
   * Returns the index of the last block that begins at or before the key; -1 when there is none.
   */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys((this.#blocks[middle] as string[])[0] as string, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** Returns the index of the key in the block, or the index at which to insert it. */
function position(block: readonly string[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(block[middle] as string, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
