/** Takes items off bytes that `checkWellFormed` has let pass. */
import { isUtf8 } from "node:buffer";
import { decodeLoosely } from "../json/exact.ts";
import { toInteger } from "../json/values.ts";
import { halfValue } from "./half-float.ts";
import { breakByte, info, major } from "./wire.ts";

export class Reader {
  /** Where the next item begins. */
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The byte that follows; the one that ends arrays and maps at the end of the bytes. */
  get next(): number {
    return this.#bytes[this.at] ?? breakByte;
  }

  get major(): number {
    return this.next >>> 5;
  }

  get isFloat(): boolean {
    const { next } = this;
    return next >= 0xf9 && next <= 0xfb;
  }

  /** The head of an item. @returns its argument, which may have lost digits beyond 2^53 */
  argument(): number {
    const bytes = this.#bytes;
    const ai = (bytes[this.at] as number) & 0x1f;
    const at = this.at + 1;
    switch (ai) {
      case info.byte:
        this.at = at + 1;
        return bytes[at] as number;
      case info.half:
        this.at = at + 2;
        return bytes.readUInt16BE(at);
      case info.single:
        this.at = at + 4;
        return bytes.readUInt32BE(at);
      case info.double:
        this.at = at + 8;
        return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
      default:
        this.at = at;
        return ai;
    }
  }

  /** The argument of an integer. */
  integer(): number | bigint {
    const start = this.at;
    const value = this.argument();
    return Number.isSafeInteger(value) ? value : toInteger(this.#bytes.readBigUInt64BE(start + 1));
  }

  float(): number {
    const bytes = this.#bytes;
    const start = this.at + 1;
    const ai = this.next & 0x1f;
    this.at = start + (1 << (ai - info.byte));
    if (ai === info.half) return halfValue(bytes.readUInt16BE(start));
    return ai === info.single ? bytes.readFloatBE(start) : bytes.readDoubleBE(start);
  }

  /** The head of an array or a map. @returns how many items or pairs follow; undefined where their end is marked */
  open(): number | undefined {
    const marked = (this.next & 0x1f) === info.indefinite;
    const count = this.argument();
    return marked ? undefined : count;
  }

  /** @returns undefined when it is not UTF-8 */
  text(): string | undefined {
    if ((this.next & 0x1f) !== info.indefinite) {
      const length = this.argument();
      const start = this.at;
      this.at = start + length;
      return this.#utf8(start, this.at);
    }
    const chunks = this.#chunks();
    return chunks.every((chunk) => isUtf8(chunk)) ? Buffer.concat(chunks).toString() : undefined;
  }

  #utf8(start: number, end: number): string | undefined {
    const text = this.#bytes.toString("utf8", start, end);
    return text.includes("\ufffd") && !isUtf8(this.#bytes.subarray(start, end)) ? undefined : text;
  }

  /** A byte string as text. Each byte that is not UTF-8 becomes U+FFFD, as in Go when it writes JSON. */
  byteText(): string {
    const start = this.at;
    const text = this.text();
    if (text !== undefined) return text;
    this.at = start;
    return decodeLoosely(this.byteString());
  }

  byteString(): Buffer {
    return (this.next & 0x1f) === info.indefinite ? Buffer.concat(this.#chunks()) : this.#slice();
  }

  #slice(): Buffer {
    const length = this.argument();
    const start = this.at;
    this.at = start + length;
    return this.#bytes.subarray(start, start + length);
  }

  #chunks(): Buffer[] {
    const chunks: Buffer[] = [];
    for (this.at++; this.next !== breakByte; ) chunks.push(this.#slice());
    this.at++;
    return chunks;
  }

  /** Passes over one item, whatever it holds. */
  skip(): void {
    /** Items that are still to come, of each array or map that is open; Infinity where the end is marked. */
    const open: number[] = [1];
    for (let left = open.pop(); left !== undefined; left = open.pop()) {
      if (left === 0) continue;
      if (left === Number.POSITIVE_INFINITY && this.next === breakByte) {
        this.at++;
        continue;
      }
      open.push(left - 1);
      const held = this.#pass();
      if (held > 0) open.push(held);
    }
  }

  /** @returns how many items stand inside */
  #pass(): number {
    const { major: type, next } = this;
    const marked = (next & 0x1f) === info.indefinite;
    switch (type) {
      case major.bytes:
      case major.text:
        if (marked) this.#chunks();
        else this.#slice();
        return 0;
      case major.array:
      case major.map: {
        const count = this.argument();
        return marked ? Number.POSITIVE_INFINITY : type === major.map ? count * 2 : count;
      }
      case major.tag:
        this.argument();
        return 1;
      default:
        this.argument();
        return 0;
    }
  }
}
