/**
 * Writes the wire format backwards, like upstream's code, so that the length of a message is known
 * before it is written.
 * Source: Protocol Buffers, "Encoding".
 */
import type { Integer } from "../json/values.ts";

/** Shorter texts are copied here; the engine is faster with longer ones. */
const shortText = 24;

/** Writes a message. Callers write fields and values in reverse order. */
export class Writer {
  #bytes: Buffer;
  /** The offset of the first written byte. */
  #at: number;

  /** @param expectedBytes an estimate of the size, which avoids copying */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expectedBytes, 64));
    this.#at = this.#bytes.length;
  }

  /** The number of bytes written. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** Returns a copy of the written bytes. */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.length);
    this.#bytes.copy(bytes, 0, this.#at);
    return bytes;
  }

  /**
   * Writes a varint.
   * @param value not negative, at most 2^53
   */
  varint(value: number): void {
    if (value < 0x80) {
      this.#need(1);
      this.#bytes[--this.#at] = value;
      return;
    }
    this.#need(10);
    this.#at -= varintBytes(value);
    writeVarint(this.#bytes, this.#at, value);
  }

  /** Writes an integer of 64 bits; a negative one as its two's complement. */
  integer(value: Integer): void {
    if (typeof value === "number" && value >= 0) return this.varint(value);
    this.#need(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    const bytes: number[] = [];
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
  }

  /** Writes a double. */
  double(value: number): void {
    this.#need(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Writes bytes without their length. */
  bytes(bytes: Buffer): void {
    this.#need(bytes.length);
    this.#at -= bytes.length;
    bytes.copy(this.#bytes, this.#at);
  }

  /** Writes a string without its length. */
  text(text: string): void {
    if (text.length <= shortText && this.#ascii(text)) return;
    const length = Buffer.byteLength(text);
    this.#need(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length, "utf8");
  }

  /**
   * Writes bytes without their length.
   * @param text canonical base64
   */
  base64(text: string): void {
    const length = Buffer.byteLength(text, "base64");
    this.#need(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length, "base64");
  }

  /** Writes a field with a string. */
  textField(tag: number, text: string): void {
    const end = this.length;
    this.text(text);
    this.closeField(tag, end);
  }

  /**
   * Writes the length of a field's content and its tag, after the content.
   * @param end `length` before the content was written
   */
  closeField(tag: number, end: number): void {
    this.varint(this.length - end);
    this.varint(tag);
  }

  /** Writes ASCII text. @returns false, without writing, when the text is not ASCII */
  #ascii(text: string): boolean {
    this.#need(text.length);
    const start = this.#at - text.length;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return false;
      this.#bytes[start + index] = unit;
    }
    this.#at = start;
    return true;
  }

  #need(count: number): void {
    if (count <= this.#at) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.length + count));
    const at = grown.length - this.length;
    this.#bytes.copy(grown, at, this.#at);
    this.#bytes = grown;
    this.#at = at;
  }
}

/**
 * Writes a varint into a buffer.
 * @param value not negative
 * @returns the offset of its end
 */
export function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
  bytes[at++] = rest;
  return at;
}

/**
 * The size of a varint in bytes.
 * @param value not negative
 */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
