/** The wire format. Source: the protobuf encoding specification. */

/** A message that is cut off, malformed or nested too deep. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtobufError";
  }
}

export const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Reads one message; never past its end. */
export class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** @returns field number and wire type */
  tag(): { readonly field: number; readonly type: number } {
    const value = Number(this.varint());
    const field = Math.floor(value / 8);
    if (field < 1 || field > 0x1fffffff) throw new ProtobufError("proto: illegal tag");
    return { field, type: value % 8 };
  }

  /** 64 bits, as they stand: a negative number is a large one. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || this.#at >= this.#end) throw new ProtobufError("unexpected EOF");
      this.#at++;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError("proto: integer overflow");
  }

  double(): number {
    const at = this.#take(8);
    return this.#bytes.readDoubleLE(at);
  }

  /** A slice of what was given. */
  bytes(): Buffer {
    const length = Number(this.varint());
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  skip(type: number): void {
    if (type === wire.varint) this.varint();
    else if (type === wire.fixed64) this.#take(8);
    else if (type === wire.bytes) this.bytes();
    else if (type === wire.fixed32) this.#take(4);
    else throw new ProtobufError(`proto: illegal wireType ${type}`);
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw new ProtobufError("unexpected EOF");
    this.#at = at + length;
    return at;
  }
}
