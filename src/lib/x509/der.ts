/** The little of DER that making a certificate takes. Source: X.690; what stands in a certificate, RFC 5280. */
import assert from "node:assert/strict";

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
};

/** @param tag as one byte: class, whether it is made of others, and a number below 31 */
export function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...encodeLength(content.length)]), content]);
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  assert.ok(length < 0x1_0000, "longer than any certificate made here");
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

export const sequence = (...elements: readonly Uint8Array[]): Buffer => element(tags.sequence, ...elements);
export const set = (...elements: readonly Uint8Array[]): Buffer => element(tags.set, ...elements);
export const octetString = (bytes: Uint8Array): Buffer => element(tags.octetString, bytes);
export const utf8String = (text: string): Buffer => element(tags.utf8String, Buffer.from(text));
export const yes: Buffer = element(tags.boolean, Buffer.from([0xff]));

/** @param bytes its first bit is its sign, and its first nine are not all the same */
export const integer = (bytes: Uint8Array): Buffer => element(tags.integer, bytes);

/** @param unused bits at the end that do not count */
export const bitString = (bytes: Uint8Array, unused = 0): Buffer => element(tags.bitString, Buffer.from([unused]), bytes);

/** @param text `1.2.840.10045.4.3.2` */
export function objectIdentifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return element(tags.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(inSevens)]));
}

function inSevens(number: number): number[] {
  const digits = [number & 0x7f];
  for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** @param ms since 1970; seconds count. The short form until 2049, as RFC 5280 §4.1.2.5 demands. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, "");
  return digits < "2050" ? element(tags.utcTime, Buffer.from(digits.slice(2))) : element(tags.generalizedTime, Buffer.from(digits));
}

/** The elements that the first element of these bytes is made of, each whole. @param bytes of something that was found good */
export function elementsOf(bytes: Buffer): Buffer[] {
  const elements: Buffer[] = [];
  const { end, contentAt } = extent(bytes, 0);
  for (let at = contentAt; at < end; at = extent(bytes, at).end) elements.push(bytes.subarray(at, extent(bytes, at).end));
  return elements;
}

/** What an element holds. */
export function contentOf(bytes: Buffer): Buffer {
  const { contentAt, end } = extent(bytes, 0);
  return bytes.subarray(contentAt, end);
}

function extent(bytes: Buffer, at: number): { contentAt: number; end: number } {
  const first = bytes.readUInt8(at + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const contentAt = at + 2 + lengthBytes;
  return { contentAt, end: contentAt + (lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)) };
}
