/** Constants of the wire format. Source: RFC 8949. */

/** Major types. */
export const major = { positive: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

/** Names of the major types in upstream's messages. */
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

/** Tag numbers. */
export const tag = {
  dateText: 0,
  epoch: 1,
  positiveBignum: 2,
  negativeBignum: 3,
  /** Expected later encodings: base64url, base64, and base16. */
  base64url: 21,
  base64: 22,
  base16: 23,
  /** Marks data as CBOR and has no other meaning. */
  selfDescribed: 55_799,
} as const;

/** Additional information: the size of the argument after the initial byte. */
export const info = { byte: 24, half: 25, single: 26, double: 27, indefinite: 31 } as const;

export const falseByte = 0xf4;
export const trueByte = 0xf5;
/** The encoded null: RFC 8949, section 3.3. */
export const nullByte = 0xf6;
export const undefinedByte = 0xf7;
export const breakByte = 0xff;

/** The tag that precedes every item that upstream writes. */
export const selfDescribed: Buffer = Buffer.from([0xd9, 0xd9, 0xf7]);

/** Data that is not valid CBOR, or does not fit its schema. The message is upstream's. */
export class CborError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CborError";
  }
}
