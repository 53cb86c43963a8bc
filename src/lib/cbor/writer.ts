import type { Integer } from "../json/values.ts";
import { halfBits } from "./half-float.ts";
import { falseByte, info, major, nullByte, tag, trueByte } from "./wire.ts";

/** Shorter texts are copied here; the engine is faster with longer ones. */
const shortText = 32;

const headBytesMax = 9;

/** Writes items from the beginning to the end, with the shortest possible heads. Source: RFC 8949, section 4.2. */
export class Writer {
  #bytes: Buffer;
  #at = 0;

  /** @param expectedBytes a guess that saves growing */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expectedBytes, 64));
  }

  /** The number of bytes written. */
  get length(): number {
    return this.#at;
  }

  /** Returns a copy of the written bytes. */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#at);
    this.#bytes.copy(bytes, 0, 0, this.#at);
    return bytes;
  }

  /**
   * Writes the head of an item.
   * @param value not negative, safe
   */
  head(type: number, value: number): void {
    this.#need(headBytesMax);
    const bytes = this.#bytes;
    const first = type << 5;
    if (value < 24) bytes[this.#at++] = first | value;
    else if (value < 0x100) {
      bytes[this.#at++] = first | info.byte;
      bytes[this.#at++] = value;
    } else if (value < 0x10000) {
      bytes[this.#at] = first | info.half;
      this.#at = bytes.writeUInt16BE(value, this.#at + 1);
    } else if (value < 0x100000000) {
      bytes[this.#at] = first | info.single;
      this.#at = bytes.writeUInt32BE(value, this.#at + 1);
    } else {
      bytes[this.#at] = first | info.double;
      this.#at = bytes.writeBigUInt64BE(BigInt(value), this.#at + 1);
    }
  }

  /**
   * Writes an integer.
   * @param value of at most 64 bits
   */
  integer(value: Integer): void {
    if (typeof value === "bigint") {
      this.#need(headBytesMax);
      this.#bytes[this.#at] = ((value < 0n ? major.negative : major.positive) << 5) | info.double;
      this.#at = this.#bytes.writeBigUInt64BE(value < 0n ? -1n - value : value, this.#at + 1);
    } else if (value < 0) this.head(major.negative, -1 - value);
    else this.head(major.positive, value);
  }

  /**
   * Writes a number in the shortest exact form.
   * @param value finite
   */
  float(value: number): void {
    this.#need(headBytesMax);
    const first = major.simple << 5;
    if (Math.fround(value) !== value) {
      this.#bytes[this.#at] = first | info.double;
      this.#at = this.#bytes.writeDoubleBE(value, this.#at + 1);
      return;
    }
    const half = halfBits(value);
    this.#bytes[this.#at] = first | (half === undefined ? info.single : info.half);
    this.#at =
      half === undefined
        ? this.#bytes.writeFloatBE(value, this.#at + 1)
        : this.#bytes.writeUInt16BE(half, this.#at + 1);
  }

  boolean(value: boolean): void {
    this.#byte(value ? trueByte : falseByte);
  }

  null(): void {
    this.#byte(nullByte);
  }

  /** Writes text as a byte string, which decoders need not check for valid UTF-8. */
  text(text: string): void {
    if (text.length <= shortText && this.#ascii(text)) return;
    const length = Buffer.byteLength(text);
    this.head(major.bytes, length);
    this.#need(length);
    this.#bytes.write(text, this.#at, length, "utf8");
    this.#at += length;
  }

  /**
   * Writes bytes.
   * @param text canonical base64
   */
  base64(text: string): void {
    const length = Buffer.byteLength(text, "base64");
    this.head(major.tag, tag.base64);
    this.head(major.bytes, length);
    this.#need(length);
    this.#bytes.write(text, this.#at, length, "base64");
    this.#at += length;
  }

  /** Writes bytes that are already encoded. */
  bytes(bytes: Buffer): void {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /**
   * Begins a map whose size is not known yet.
   * @returns the argument of `closeMap`
   */
  openMap(): number {
    this.#need(1);
    return this.#at++;
  }

  /**
   * Ends a map.
   * @param pairs the number of pairs that were written, fewer than 65536
   */
  closeMap(opened: number, pairs: number): void {
    const first = major.map << 5;
    if (pairs < 24) {
      this.#bytes[opened] = first | pairs;
      return;
    }
    const more = pairs < 0x100 ? 1 : 2;
    this.#need(more);
    this.#bytes.copyWithin(opened + 1 + more, opened + 1, this.#at);
    this.#at += more;
    this.#bytes[opened] = first | (more === 1 ? info.byte : info.half);
    this.#bytes.writeUIntBE(pairs, opened + 1, more);
  }

  #byte(byte: number): void {
    this.#need(1);
    this.#bytes[this.#at++] = byte;
  }

  /** Writes ASCII text. @returns false, without writing, when the text is not ASCII */
  #ascii(text: string): boolean {
    const { length } = text;
    this.#need(length + headBytesMax);
    const head = length < 24 ? 1 : 2;
    const start = this.#at + head;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return false;
      this.#bytes[start + index] = unit;
    }
    this.head(major.bytes, length);
    this.#at += length;
    return true;
  }

  #need(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + count));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}
