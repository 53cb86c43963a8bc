/** The distinguished encoding of ASN.1: the few forms that a certificate needs. */

/** One value: its tag, its length, its content. */
export function tagged(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), encodeLength(body.length), body]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(0x30, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => tagged(0x31, ...items);
export const octetString = (content: Uint8Array): Buffer => tagged(0x04, content);
export const utf8String = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
/** `[number]` around whole values. */
export const explicit = (number: number, ...items: readonly Uint8Array[]): Buffer => tagged(0xa0 | number, ...items);
/** `[number]` in place of a value's own tag. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 | number, content);

/** @param bytes big-endian, not negative */
export function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(start));
  return tagged(0x02, (digits[0] as number) >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.from([unusedBits]), bytes);
}

/** @param dotted such as `2.5.29.17` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(0x80 | (rest & 0x7f));
  return digits;
}

/** Two digits of the year until 2049, four from then on, as RFC 5280 wants it. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return Number(digits.slice(0, 4)) < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

/** @returns the values within a sequence, whole, in order @throws RangeError when the encoding is cut off */
export function itemsOf(sequenceBytes: Buffer): Buffer[] {
  const { start, end } = contentOf(sequenceBytes, 0);
  const items: Buffer[] = [];
  for (let at = start; at < end; ) {
    const item = contentOf(sequenceBytes, at);
    items.push(sequenceBytes.subarray(at, item.end));
    at = item.end;
  }
  return items;
}

function contentOf(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes.readUInt8(at + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + lengthBytes;
  const end = start + (lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes));
  if (end > bytes.length) throw new RangeError("the encoding is cut off");
  return { start, end };
}
