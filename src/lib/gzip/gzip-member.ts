/**
 * A gzip member of parts that are compressed one by one, so that a part that several members contain
 * is compressed once. Source: RFC 1951, RFC 1952.
 */
import { constants, crc32, deflateRaw } from "node:zlib";

/** Bytes that were compressed on their own. */
export interface DeflatedPart {
  /** Blocks that end at a byte, and none of which is the last of a stream. */
  readonly bytes: Buffer;
  /** The number of bytes before compression. */
  readonly length: number;
  /** The CRC-32 of the bytes before compression. */
  readonly crc: number;
  /** x to the power of their number of bits: what shifts the CRC-32 of other bytes before them. */
  readonly shift: number;
}

/**
 * Level 1, as upstream; it halves JSON at least. The memory of the output exceeds that of most parts,
 * because each further buffer takes another turn of a thread.
 */
const options = {
  level: constants.Z_BEST_SPEED,
  finishFlush: constants.Z_SYNC_FLUSH,
  chunkSize: 64 << 10,
};

/** Compresses bytes in a thread of zlib. */
export function deflatePart(bytes: Buffer): Promise<DeflatedPart> {
  return new Promise((resolve, reject) => {
    deflateRaw(bytes, options, (error, deflated) => {
      if (error !== null) return reject(error);
      // A copy: zlib's buffers are longer than their content.
      const exact = Buffer.allocUnsafeSlow(deflated.length);
      deflated.copy(exact);
      resolve({ bytes: exact, length: bytes.length, crc: crc32(bytes), shift: powerOfX(bytes.length) });
    });
  });
}

/** A deflate stream, whose blocks have a final bit, and no other flags, name or time. */
const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff]);
/** An empty block with fixed codes that is the last one. */
const lastBlock = Buffer.from([3, 0]);
/** The length of a stored block, which two bytes contain. */
const storedMax = 0xffff;
const storedHead = 5;

/** Writes one member. Each function returns the bytes to send; the first ones are `head`. */
export class GzipMember {
  static readonly head: Buffer = head;
  #crc = 0;
  #length = 0;

  /** Adds few bytes, without compression. */
  stored(bytes: Buffer): Buffer {
    this.#crc = crc32(bytes, this.#crc);
    this.#length += bytes.length;
    const blocks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += storedMax) blocks.push(storedBlock(bytes.subarray(at, at + storedMax)));
    return blocks.length === 1 ? (blocks[0] as Buffer) : Buffer.concat(blocks);
  }

  /** Adds a part. */
  deflated({ bytes, length, crc, shift }: DeflatedPart): Buffer {
    this.#crc = (product(shift, this.#crc) ^ crc) >>> 0;
    this.#length += length;
    return bytes;
  }

  end(): Buffer {
    const trailer = Buffer.alloc(lastBlock.length + 8);
    lastBlock.copy(trailer);
    trailer.writeUInt32LE(this.#crc, lastBlock.length);
    trailer.writeUInt32LE(this.#length % 2 ** 32, lastBlock.length + 4);
    return trailer;
  }
}

function storedBlock(bytes: Buffer): Buffer {
  const block = Buffer.allocUnsafe(storedHead + bytes.length);
  block[0] = 0;
  block.writeUInt16LE(bytes.length, 1);
  block.writeUInt16LE(~bytes.length & storedMax, 3);
  bytes.copy(block, storedHead);
  return block;
}

/** The polynomial of the CRC-32, without its highest power. Like all here, the lowest power is the highest bit. */
const polynomial = 0xedb88320;
const one = 0x80000000;

/** The product of two polynomials, modulo the one of the CRC-32. */
function product(a: number, b: number): number {
  let result = 0;
  let shifted = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) result ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return result >>> 0;
}

/** x to the power of 8 · 2^n, by n. */
const powersOfTwo = powersUpTo(32);

function powersUpTo(count: number): readonly number[] {
  let power = one >>> 8;
  return Array.from({ length: count }, () => {
    const current = power;
    power = product(power, power);
    return current;
  });
}

/** x to the power of the number of bits in so many bytes. */
function powerOfX(bytes: number): number {
  let power = one;
  for (let [rest, n] = [bytes, 0]; rest > 0; rest = Math.floor(rest / 2), n++)
    if (rest % 2 === 1) power = product(powersOfTwo[n] as number, power);
  return power;
}
