/** Major types and the few fixed bytes of RFC 8949. */

export const major = { positive: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

/** As upstream's messages call them. */
export const majorNames = [
  "positive integer",
  "negative integer",
  "byte string",
  "UTF-8 text string",
  "array",
  "map",
  "tag",
  "primitives",
] as const;

export const tag = {
  dateText: 0,
  epoch: 1,
  positiveBignum: 2,
  negativeBignum: 3,
  /** Expected later encodings: base64url, base64, and base16. */
  base64url: 21,
  base64: 22,
  base16: 23,
  /** Says nothing but that this is CBOR. */
  selfDescribed: 55_799,
} as const;

/** How a number follows its head. */
export const info = { byte: 24, half: 25, single: 26, double: 27, indefinite: 31 } as const;

export const falseByte = 0xf4;
export const trueByte = 0xf5;
export const nullByte = 0xf6;
export const undefinedByte = 0xf7;
export const breakByte = 0xff;

/** The tag that stands before every item of upstream's. */
export const selfDescribed: Buffer = Buffer.from([0xd9, 0xd9, 0xf7]);

/** The message is upstream's, such as `cbor: unexpected "break" code`. */
export class CborError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CborError";
  }
}
