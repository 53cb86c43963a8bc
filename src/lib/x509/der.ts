/** Distinguished encoding rules, as far as certificates need them. Source: ITU-T X.690, sections 8 and 10. */

/** Tags of values. `explicit` and `implicit` have the number of a field. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  implicit: (field: number): number => 0x80 | field,
  explicit: (field: number): number => 0xa0 | field,
} as const;

/** @returns a value whose contents are the parts, one after the other */
export function encodeValue(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(bytes)]), ...parts]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => encodeValue(tags.sequence, ...parts);

/** A string of whole bytes. */
export const bitString = (bytes: Uint8Array): Buffer => encodeValue(tags.bitString, Buffer.of(0), bytes);

/** @param dotted such as `2.5.29.19` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return encodeValue(tags.objectIdentifier, Buffer.from([first * 40 + second, ...others].flatMap(inBase128)));
}

function inBase128(value: number): number[] {
  const groups = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift((rest % 128) | 0x80);
  return groups;
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export interface DecodedValue {
  readonly tag: number;
  readonly contents: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

/**
 * Splits the contents of a value, or a text, into the values that are in it.
 * @throws Error when they are malformed
 */
export function decodeValues(bytes: Buffer): DecodedValue[] {
  const values: DecodedValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { headerBytes, length } = decodeHeader(bytes.subarray(at));
    const end = at + headerBytes + length;
    if (end > bytes.length) throw new Error("asn1: a value is longer than what contains it");
    const whole = bytes.subarray(at, end);
    values.push({ tag: whole.readUInt8(0), contents: whole.subarray(headerBytes), whole });
    at = end;
  }
  return values;
}

/** The longest length has four bytes; tags have one, as all of certificates. */
function decodeHeader(bytes: Buffer): { readonly headerBytes: number; readonly length: number } {
  const first = bytes[1] ?? 0x80;
  if (first < 0x80) return { headerBytes: 2, length: first };
  const count = first & 0x7f;
  if (count === 0 || count > 4 || bytes.length < 2 + count) throw new Error("asn1: a length is malformed");
  return { headerBytes: 2 + count, length: bytes.readUIntBE(2, count) };
}
