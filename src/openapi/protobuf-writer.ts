/**
 * Writes protobuf backwards, so that the length of a message is known when its header is written.
 */
export class ProtobufWriter {
  #buffer: Buffer;
  /** The offset of the first written byte. */
  #start: number;

  /** Whether members that messages do not have are skipped; otherwise they are errors. */
  readonly skipsUnknown: boolean;

  /** @param sizeHint initial size of the buffer in bytes; the buffer grows */
  constructor(sizeHint = 1024, skipsUnknown = false) {
    this.#buffer = Buffer.allocUnsafe(sizeHint);
    this.#start = sizeHint;
    this.skipsUnknown = skipsUnknown;
  }

  /** Number of bytes written so far. */
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

  /** @param value a non-negative integer */
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

  /** Writes the header of a field whose content of `length` bytes has been written. */
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

  /** Returns a copy of the written bytes. */
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
