import { compareKeys } from "./key-order.ts";

/** Keys of a block; a full one is split in two. */
const blockMax = 512;

/** A set of keys in order. Adding and deleting move at most a block and the list of blocks. */
export class SortedKeys {
  /** None is empty. */
  readonly #blocks: string[][] = [];

  /** @param key is not there yet */
  add(key: string): void {
    const index = Math.max(this.#blockOf(key), 0);
    const block = this.#blocks[index];
    if (block === undefined) {
      this.#blocks.push([key]);
      return;
    }
    block.splice(position(block, key), 0, key);
    // Keys that come in order fill blocks instead of leaving them half empty.
    if (block.length > blockMax)
      this.#blocks.splice(index + 1, 0, block.splice(block.at(-1) === key ? blockMax : blockMax / 2));
  }

  /** @param key is there */
  delete(key: string): void {
    const index = this.#blockOf(key);
    const block = this.#blocks[index] as string[];
    block.splice(position(block, key), 1);
    if (block.length === 0) this.#blocks.splice(index, 1);
  }

  /** Keys at or after `from`, in order. The set must not change meanwhile. */
  *from(from: string): IterableIterator<string> {
    const first = Math.max(this.#blockOf(from), 0);
    for (let index = first; index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as string[];
      for (let at = index === first ? position(block, from) : 0; at < block.length; at++) yield block[at] as string;
    }
  }

  /** Index of the last block that does not begin after the key; -1 when all do. */
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

/** Where the key is in the block, or would be. */
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
