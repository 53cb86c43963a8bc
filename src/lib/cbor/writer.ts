/** The wire format, written from its beginning to its end, every head as short as it may be. */
import type { Integer } from "../json/values.ts";
import { halfBits } from "./half-float.ts";
import { falseByte, info, major, nullByte, tag, trueByte } from "./wire.ts";

/** Texts up to so many characters are written here; the engine is quicker with longer ones. */
const shortText = 32;

const headBytesMax = 9;

export class Writer {
  #bytes: Buffer;
  #at = 0;

  /** @param expectedBytes a guess that saves growing */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expectedBytes, 64));
  }

  /** Bytes written. */
  get length(): number {
    return this.#at;
  }

  /** @returns what was written, in memory of its own */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#at);
    this.#bytes.copy(bytes, 0, 0, this.#at);
    return bytes;
  }

  /** @param value not negative, safe */
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

  /** @param value of 64 bits */
  integer(value: Integer): void {
    if (typeof value === "bigint") {
      this.#need(headBytesMax);
      this.#bytes[this.#at] = ((value < 0n ? major.negative : major.positive) << 5) | info.double;
      this.#at = this.#bytes.writeBigUInt64BE(value < 0n ? -1n - value : value, this.#at + 1);
    } else if (value < 0) this.head(major.negative, -1 - value);
    else this.head(major.positive, value);
  }

  /** In as few bytes as hold it without loss. @param value finite */
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

  /** Texts are byte strings: nobody needs to look whether they are UTF-8. */
  text(text: string): void {
    if (text.length <= shortText && this.#ascii(text)) return;
    const length = Buffer.byteLength(text);
    this.head(major.bytes, length);
    this.#need(length);
    this.#bytes.write(text, this.#at, length, "utf8");
    this.#at += length;
  }

  /** @param text base64, canonical */
  base64(text: string): void {
    const length = Buffer.byteLength(text, "base64");
    this.head(major.tag, tag.base64);
    this.head(major.bytes, length);
    this.#need(length);
    this.#bytes.write(text, this.#at, length, "base64");
    this.#at += length;
  }

  /** What is written already. */
  bytes(bytes: Buffer): void {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Begins a map whose size shows at its end. @returns what {@link Writer.closeMap} wants */
  openMap(): number {
    this.#need(1);
    return this.#at++;
  }

  /** @param pairs how many were written since, fewer than 65536 */
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

  /** @returns false when the text is not ASCII; nothing was written then */
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
