/** Writes the DER that certificates consist of, and finds elements in it. Source: ITU-T X.690 */

/** An element of DER. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** The whole element. */
  readonly bytes: Buffer;
}

const utcTimeEnd = Date.UTC(2050);

/** Writes any element. @param tag of one byte */
export function element(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const hex = length.toString(16);
  const lengthBytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | lengthBytes.length]), lengthBytes, content]);
}

/** A SEQUENCE of elements. */
export function sequence(...elements: readonly Uint8Array[]): Buffer {
  return element(0x30, Buffer.concat(elements));
}

/** An OBJECT IDENTIFIER. @param dotted such as `2.5.29.15` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A BIT STRING. @param unusedBits number of bits of the last byte that do not belong to it */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

/** A time of a certificate, in whole seconds (RFC 5280, section 4.1.2.5). @param ms since 1970 */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|\D/g, (part) => (part === "Z" ? part : ""));
  return ms < utcTimeEnd ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

/**
 * Splits DER into its elements.
 * @param bytes that OpenSSL has parsed: nothing is checked
 */
export function elementsOf(bytes: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (let start = 0; start < bytes.length; ) {
    const short = bytes[start + 1] as number;
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
    const length = lengthBytes === 0 ? short : bytes.readUIntBE(start + 2, lengthBytes);
    const contentStart = start + 2 + lengthBytes;
    const end = contentStart + length;
    elements.push({
      tag: bytes[start] as number,
      content: bytes.subarray(contentStart, end),
      bytes: bytes.subarray(start, end),
    });
    start = end;
  }
  return elements;
}

/** Seven bits in each byte; all except the last have the highest bit set. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}
