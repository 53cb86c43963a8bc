/** Checksums of index entries, so that a damaged entry does not lead to a wrong record. */

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/**
 * FNV-1a, 32 bits, over a number and the UTF-8 bytes of the key. It is on the path of every read.
 * @param seed the {@link numberCheck} of a number before it
 */
export function entryCheck(number: number, key: string, seed = offsetBasis): number {
  const start = numberCheck(number, seed);
  let hash = start;
  let bits = 0;
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index);
    bits |= code;
    hash = Math.imul(hash ^ code, prime);
  }
  return bits > 0x7f ? bytesCheck(start, Buffer.from(key)) : hash >>> 0;
}

/** As {@link entryCheck}, for a key in UTF-8. */
export function entryCheckOfBytes(number: number, bytes: Uint8Array, start: number, end: number): number {
  return bytesCheck(numberCheck(number), bytes, start, end);
}

/** Of a number, as two words. */
export function numberCheck(number: number, seed = offsetBasis): number {
  return Math.imul(Math.imul(seed ^ (number >>> 0), prime) ^ Math.floor(number / 2 ** 32), prime);
}

function bytesCheck(seed: number, bytes: Uint8Array, start = 0, end = bytes.length): number {
  let hash = seed;
  for (let index = start; index < end; index++) hash = Math.imul(hash ^ (bytes[index] as number), prime);
  return hash >>> 0;
}
