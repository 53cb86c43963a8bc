/** Reads items of data that `checkWellFormed` has accepted. Source: RFC 8949. */
import { isUtf8 } from "node:buffer";
import { decodeLoosely } from "../json/exact.ts";
import { toInteger } from "../json/values.ts";
import { halfValue } from "./half-float.ts";
import { breakByte, info, major } from "./wire.ts";

/** Reads items one after another. */
export class Reader {
  /** The offset of the next item. */
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The next byte; a break at the end of the data. */
  get next(): number {
    return this.#bytes[this.at] ?? breakByte;
  }

  /** The major type of the next item. */
  get major(): number {
    return this.next >>> 5;
  }

  /** Whether the next item is a floating-point number. */
  get isFloat(): boolean {
    const { next } = this;
    return next >= 0xf9 && next <= 0xfb;
  }

  /**
   * Reads the head of an item.
   * @returns its argument, which is not exact beyond 2^53
   */
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

  /** Reads the argument of an integer exactly. */
  integer(): number | bigint {
    const start = this.at;
    const value = this.argument();
    return Number.isSafeInteger(value) ? value : toInteger(this.#bytes.readBigUInt64BE(start + 1));
  }

  /** Reads a floating-point number. */
  float(): number {
    const bytes = this.#bytes;
    const start = this.at + 1;
    const ai = this.next & 0x1f;
    this.at = start + (1 << (ai - info.byte));
    if (ai === info.half) return halfValue(bytes.readUInt16BE(start));
    return ai === info.single ? bytes.readFloatBE(start) : bytes.readDoubleBE(start);
  }

  /**
   * Reads the head of an array or a map.
   * @returns the number of items or pairs; undefined when the length is indefinite
   */
  open(): number | undefined {
    const isIndefinite = (this.next & 0x1f) === info.indefinite;
    const count = this.argument();
    return isIndefinite ? undefined : count;
  }

  /** Reads a string as text; returns undefined when it is not UTF-8. */
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

  /** Reads a byte string as text. Each byte that is not UTF-8 becomes U+FFFD, as in Go's JSON. */
  byteText(): string {
    const start = this.at;
    const text = this.text();
    if (text !== undefined) return text;
    this.at = start;
    return decodeLoosely(this.byteString());
  }

  /** Reads the bytes of a string. */
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

  /** Skips one item with its content. */
  skip(): void {
    /**
     * The number of remaining items of each open array or map; Infinity when its length is
     * indefinite.
     */
    const open: number[] = [1];
    for (let left = open.pop(); left !== undefined; left = open.pop()) {
      if (left === 0) continue;
      if (left === Number.POSITIVE_INFINITY && this.next === breakByte) {
        this.at++;
        continue;
      }
      open.push(left - 1);
      const nested = this.#skipHead();
      if (nested > 0) open.push(nested);
    }
  }

  /** Skips an item without nested items. @returns the number of nested items */
  #skipHead(): number {
    const { major: type, next } = this;
    const isIndefinite = (next & 0x1f) === info.indefinite;
    switch (type) {
      case major.bytes:
      case major.text:
        if (isIndefinite) this.#chunks();
        else this.#slice();
        return 0;
      case major.array:
      case major.map: {
        const count = this.argument();
        return isIndefinite ? Number.POSITIVE_INFINITY : type === major.map ? count * 2 : count;
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
