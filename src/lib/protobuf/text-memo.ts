/**
 * Short texts that were read before. Objects consist largely of the same words, and finding one here
 * is several times faster than creating it.
 */

/** Longer texts are not kept. */
const lengthMax = 32;
/** A power of two. A text replaces the one that has the same hash. */
const slots = 4096;

/** A table of a fixed size, about half a megabyte when it is full. */
export class TextMemo {
  readonly #bytes = new Uint8Array(slots * lengthMax);
  readonly #texts: (string | undefined)[] = new Array(slots);

  /**
   * The text of some bytes of UTF-8.
   * @param end at most the length of `bytes`
   */
  read(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > lengthMax) return bytes.toString("utf8", start, end);
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
    const slot = (hash ^ (hash >>> 12)) & (slots - 1);
    const known = this.#texts[slot];
    if (known !== undefined && known.length === length && this.#holds(slot, bytes, start, end)) return known;
    return this.#add(slot, bytes, start, end);
  }

  #holds(slot: number, bytes: Buffer, start: number, end: number): boolean {
    const own = this.#bytes;
    for (let at = start, kept = slot * lengthMax; at < end; at++, kept++) if (own[kept] !== bytes[at]) return false;
    return true;
  }

  #add(slot: number, bytes: Buffer, start: number, end: number): string {
    const text = bytes.toString("utf8", start, end);
    if (text.length === end - start) {
      // ASCII, or it has fewer characters than bytes.
      this.#bytes.set(bytes.subarray(start, end), slot * lengthMax);
      this.#texts[slot] = text;
    }
    return text;
  }
}
