/** Writes protobuf from its end to its beginning, so that the length of a message is known when its head is written. */
export class ProtobufWriter {
  #buffer: Buffer;
  /** Where what was written begins. */
  #start: number;

  /** @param sizeHint bytes; more are taken when needed */
  constructor(sizeHint = 1024) {
    this.#buffer = Buffer.allocUnsafe(sizeHint);
    this.#start = sizeHint;
  }

  /** Bytes written so far; the difference of two is the length of what was written between. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#start -= bytes.length;
    this.#buffer.set(bytes, this.#start);
  }

  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#start -= length;
    this.#buffer.write(text, this.#start);
  }

  /** @param value a whole number, not negative */
  varint(value: number): void {
    const bytes: number[] = [];
    let rest = value;
    while (rest > 0x7f) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
    this.bytes(Uint8Array.from(bytes));
  }

  /** The head of a field whose content, of so many bytes, has been written. */
  lengthDelimited(field: number, length: number): void {
    this.varint(length);
    this.varint(field * 8 + 2);
  }

  boolean(field: number, value: boolean): void {
    this.varint(value ? 1 : 0);
    this.varint(field * 8);
  }

  double(field: number, value: number): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#buffer.writeDoubleLE(value, this.#start);
    this.varint(field * 8 + 1);
  }

  /** A copy of all that was written. */
  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#start));
  }

  #reserve(length: number): void {
    if (length <= this.#start) return;
    const used = this.length;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + length));
    this.#buffer.copy(grown, grown.length - used, this.#start);
    this.#start = grown.length - used;
    this.#buffer = grown;
  }
}
