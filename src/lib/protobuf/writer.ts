/** The wire format, written from its end to its beginning: so the length of a message is known when it is to be written, as in upstream's code. */
import type { Integer } from "../json/values.ts";

/** Texts up to so many characters are written here; the engine is quicker with longer ones. */
const shortText = 24;

/** Fields and values are handed in last first. */
export class Writer {
  #bytes: Buffer;
  /** Where what was written begins. */
  #at: number;

  /** @param expectedBytes a guess that saves growing */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expectedBytes, 64));
    this.#at = this.#bytes.length;
  }

  /** Bytes written. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** @returns what was written, in memory of its own */
  finish(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.length);
    this.#bytes.copy(bytes, 0, this.#at);
    return bytes;
  }

  /** @param value not negative, at most 2^53 */
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

  /** 64 bits, a negative number as its two's complement. */
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

  double(value: number): void {
    this.#need(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
  }

  bytes(bytes: Buffer): void {
    this.#need(bytes.length);
    this.#at -= bytes.length;
    bytes.copy(this.#bytes, this.#at);
  }

  text(text: string): void {
    if (text.length <= shortText && this.#ascii(text)) return;
    const length = Buffer.byteLength(text);
    this.#need(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length, "utf8");
  }

  /** @param text base64, canonical */
  base64(text: string): void {
    const length = Buffer.byteLength(text, "base64");
    this.#need(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length, "base64");
  }

  textField(tag: number, text: string): void {
    const end = this.length;
    this.text(text);
    this.closeField(tag, end);
  }

  /** Puts length and tag before what was written since. @param end the length before it */
  closeField(tag: number, end: number): void {
    this.varint(this.length - end);
    this.varint(tag);
  }

  /** @returns false when the text is not ASCII; nothing was written then */
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

/** @param value not negative @returns where it ends */
export function writeVarint(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
  bytes[at++] = rest;
  return at;
}

/** How many bytes a number takes. @param value not negative */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
