/** Bounds the work of parsing, before it: a few bytes of text become many bytes of objects. */

/** @returns the number of opening brackets of objects and lists, also of those in strings, so that it can be too high */
export function countContainers(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 0x7b || byte === 0x5b) count++;
  return count;
}
