/** Checksums of index entries, so that a damaged entry does not lead to a wrong record. */

const seed = 0x811c9dc5;
const prime = 0x01000193;

/** FNV-1a, 32 bits, over the numbers, each as two words, and the UTF-8 bytes of the key. */
export function entryCheck(numbers: readonly number[], key: string): number {
  let hash = seedOf(numbers);
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index);
    if (code > 0x7f) return entryCheckOfBytes(numbers, Buffer.from(key));
    hash = Math.imul(hash ^ code, prime);
  }
  return hash >>> 0;
}

/** As {@link entryCheck}, for a key in UTF-8. */
export function entryCheckOfBytes(
  numbers: readonly number[],
  bytes: Uint8Array,
  start = 0,
  end = bytes.length,
): number {
  let hash = seedOf(numbers);
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] as number), prime);
  return hash >>> 0;
}

function seedOf(numbers: readonly number[]): number {
  let hash = seed;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number >>> 0), prime);
    hash = Math.imul(hash ^ Math.floor(number / 2 ** 32), prime);
  }
  return hash;
}
