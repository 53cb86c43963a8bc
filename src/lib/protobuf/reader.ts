/**
 * Reads the wire format. Source: Protocol Buffers, "Encoding"; error messages of gogo/protobuf's
 * generated code.
 */
import { type Integer, toInteger } from "../json/values.ts";
import { TextMemo } from "./text-memo.ts";

/** A message that is truncated, malformed or nested too deep. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtobufError";
  }
}

/** The wire types. */
export const wire = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/**
 * The error for a field with an unexpected wire type.
 * @param field the name of the field in Go
 */
export function wrongWireType(type: number, field: string): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${type} for field ${field}`);
}

/** The field number of a tag. */
export function fieldOf(tag: number): number {
  return tag >= 0 && tag < 0x80 ? tag >>> 3 : Math.floor(tag / 8);
}

/** The wire type of a tag. */
export function wireTypeOf(tag: number): number {
  return tag & 7;
}

// A memo of immutable values that depend on their keys alone.
const texts = new TextMemo();

/** Reads a message and its nested messages in place, never past the end of the current message. */
export class Reader {
  readonly #bytes: Buffer;
  #end: number;
  #at: number;
  // The last number: 28 bits, 28 bits, and 8.
  #low = 0;
  #middle = 0;
  #high = 0;

  constructor(bytes: Buffer, start = 0) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = bytes.length;
  }

  /** Whether the current message has ended. */
  get done(): boolean {
    return this.#at >= this.#end;
  }

  /**
   * Reads a tag.
   * @returns `field * 8 + wire type`. As in upstream, the field is truncated to 32 bits and may be
   *   0 or negative.
   */
  tag(): number {
    const byte = this.#bytes[this.#at] as number;
    if (byte < 0x80 && this.#at < this.#end) {
      this.#at++;
      this.#low = byte;
      this.#middle = 0;
      this.#high = 0;
      return byte;
    }
    this.#number();
    return ((this.#low >>> 3) | (this.#middle << 25)) * 8 + (this.#low & 7);
  }

  /**
   * The error for the last tag, which no field can have.
   * @param message the name of the message in Go
   */
  illegalTag(tag: number, message: string): ProtobufError {
    if (wireTypeOf(tag) === wire.endGroup)
      return new ProtobufError(`proto: ${message}: wiretype end group for non-group`);
    const whole = BigInt(this.#low) | (BigInt(this.#middle) << 28n) | (BigInt(this.#high) << 56n);
    return new ProtobufError(`proto: ${message}: illegal tag ${fieldOf(tag)} (wire type ${whole})`);
  }

  /** Reads an int32 as Go does: the low 32 bits, signed. */
  int32(): number {
    this.#number();
    return this.#low | (this.#middle << 28);
  }

  /** Reads an int64. */
  int64(): Integer {
    this.#number();
    if (this.#high === 0 && this.#middle < 2 ** 25) return this.#low + this.#middle * 2 ** 28;
    const value = BigInt(this.#low) | (BigInt(this.#middle) << 28n) | (BigInt(this.#high) << 56n);
    return toInteger(BigInt.asIntN(64, value));
  }

  /** Reads a boolean. */
  bool(): boolean {
    this.#number();
    return (this.#low | this.#middle | this.#high) !== 0;
  }

  /** Reads a double. */
  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  /** Reads a string. */
  text(): string {
    const length = this.#length();
    const at = this.#take(length);
    return texts.read(this.#bytes, at, at + length);
  }

  /** Reads bytes as base64 text. */
  base64(): string {
    return this.bytes().toString("base64");
  }

  /** Reads bytes, as a slice of the input. */
  bytes(): Buffer {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Enters the next message. @returns the argument of `leave` */
  enter(): number {
    const length = this.#length();
    const outerEnd = this.#end;
    if (length > outerEnd - this.#at) throw truncated();
    this.#end = this.#at + length;
    return outerEnd;
  }

  /** Leaves a message that was read to its end. */
  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  /** Skips an unknown field; a group with its content. */
  skip(type: number): void {
    for (let depth = 0, next = type; ; next = wireTypeOf(this.tag())) {
      if (next === wire.varint) this.#number();
      else if (next === wire.fixed64) this.#take(8);
      else if (next === wire.bytes) this.#take(this.#length());
      else if (next === wire.startGroup) depth++;
      else if (next === wire.endGroup) depth--;
      else if (next === wire.fixed32) this.#take(4);
      else throw new ProtobufError(`proto: illegal wireType ${next}`);
      if (depth < 0) throw new ProtobufError("proto: unexpected end of group");
      if (depth === 0) return;
    }
  }

  #length(): number {
    this.#number();
    if (this.#high >= 0x80) throw new ProtobufError("proto: negative length found during unmarshaling");
    return this.#low + this.#middle * 2 ** 28 + this.#high * 2 ** 56;
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw truncated();
    this.#at = at + length;
    return at;
  }

  #number(): void {
    this.#low = 0;
    this.#middle = 0;
    this.#high = 0;
    for (let index = 0; index < 10; index++) {
      if (this.#at >= this.#end) throw truncated();
      const byte = this.#bytes[this.#at++] as number;
      const bits = byte & 0x7f;
      if (index < 4) this.#low |= bits << (index * 7);
      else if (index < 8) this.#middle |= bits << ((index - 4) * 7);
      else this.#high |= index === 8 ? bits : (bits & 1) << 7;
      if (byte < 0x80) return;
    }
    throw new ProtobufError("proto: integer overflow");
  }
}

function truncated(): ProtobufError {
  return new ProtobufError("unexpected EOF");
}
