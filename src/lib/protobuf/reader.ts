/** The wire format, read. Source: the protobuf encoding specification; messages are those of upstream's generated code. */
import { type Integer, toInteger } from "../json/values.ts";

/** A message that is cut off, malformed or nested too deep. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtobufError";
  }
}

export const wire = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** @param field as Go calls it */
export function wrongWireType(type: number, field: string): ProtobufError {
  return new ProtobufError(`proto: wrong wireType = ${type} for field ${field}`);
}

export function fieldOf(tag: number): number {
  return tag >= 0 && tag < 0x80 ? tag >>> 3 : Math.floor(tag / 8);
}

export function wireTypeOf(tag: number): number {
  return tag & 7;
}

/** Reads a message, and the messages in it, in place; never past the end of the one it is in. */
export class Reader {
  readonly #bytes: Buffer;
  #end: number;
  #at: number;
  // The number read last: 28 bits, 28 bits, and 8.
  #low = 0;
  #middle = 0;
  #high = 0;

  constructor(bytes: Buffer, start = 0) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = bytes.length;
  }

  /** Whether the message it is in has ended. */
  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** @returns `field * 8 + wire type`; the field is 32 bits of what was read, as upstream takes them: it may be 0 or negative */
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

  /** @param tag read last; one that no field of a message can have @param message upstream's name of it */
  illegalTag(tag: number, message: string): ProtobufError {
    if (wireTypeOf(tag) === wire.endGroup)
      return new ProtobufError(`proto: ${message}: wiretype end group for non-group`);
    const whole = BigInt(this.#low) | (BigInt(this.#middle) << 28n) | (BigInt(this.#high) << 56n);
    return new ProtobufError(`proto: ${message}: illegal tag ${fieldOf(tag)} (wire type ${whole})`);
  }

  /** The low 32 bits, signed, as Go reads an int32. */
  int32(): number {
    this.#number();
    return this.#low | (this.#middle << 28);
  }

  int64(): Integer {
    this.#number();
    if (this.#high === 0 && this.#middle < 2 ** 25) return this.#low + this.#middle * 2 ** 28;
    const value = BigInt(this.#low) | (BigInt(this.#middle) << 28n) | (BigInt(this.#high) << 56n);
    return toInteger(BigInt.asIntN(64, value));
  }

  bool(): boolean {
    this.#number();
    return (this.#low | this.#middle | this.#high) !== 0;
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  text(): string {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  base64(): string {
    return this.bytes().toString("base64");
  }

  /** A slice of what was given. */
  bytes(): Buffer {
    const length = this.#length();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** Goes into the message that comes next. @returns for {@link Reader.leave} */
  enter(): number {
    const length = this.#length();
    const outerEnd = this.#end;
    if (length > outerEnd - this.#at) throw cutOff();
    this.#end = this.#at + length;
    return outerEnd;
  }

  /** Goes back out of a message that was read to its end. */
  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  /** Passes over a field that is not known, groups with all that is in them. */
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
    if (length > this.#end - at) throw cutOff();
    this.#at = at + length;
    return at;
  }

  #number(): void {
    this.#low = 0;
    this.#middle = 0;
    this.#high = 0;
    for (let index = 0; index < 10; index++) {
      if (this.#at >= this.#end) throw cutOff();
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

function cutOff(): ProtobufError {
  return new ProtobufError("unexpected EOF");
}
