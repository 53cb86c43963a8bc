/**
 * Compressed headers. Source: SPDY Protocol Draft 3.1, sections 2.6.10 and 2.6.10.1. All header
 * blocks of one direction are one zlib stream, and each ends at a whole byte.
 */
import { constants, inflateRawSync } from "node:zlib";
import { headerDictionary } from "./dictionary.ts";
import { SpdyError } from "./spdy-error.ts";

/** Lower-case names. A header with several values has one entry, with the values in order. */
export type Headers = ReadonlyMap<string, readonly string[]>;

/** The largest header block, decompressed. Kubernetes sends about a hundred bytes. */
export const headerBytesMax = 64 << 10;

const valueSeparator = "\0";

/** The header of a zlib stream with a preset dictionary, and the Adler-32 checksum of the dictionary. */
const streamStart = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);

/** An empty stored block, as of Z_SYNC_FLUSH: with it, decoders know that the block before is complete. */
const flushed = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);

/** The window of deflate: how far back a block can refer. */
const windowBytes = 32 << 10;

/**
 * Encodes header blocks. They are stored, not compressed, so that an encoder has no memory of
 * earlier blocks.
 */
export class HeaderEncoder {
  #started = false;

  /** @throws RangeError if the headers are longer than one stored block can be */
  encode(headers: Headers): Buffer {
    const block = encodeBlock(headers);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(block.length, 1);
    stored.writeUInt16LE(0xffff ^ block.length, 3);
    const start = this.#started ? [] : [streamStart];
    this.#started = true;
    return Buffer.concat([...start, stored, block, flushed]);
  }
}

/** Decodes the header blocks of one direction, in the order in which they arrive. */
export class HeaderDecoder {
  #started = false;
  /** What the next block can refer to: the end of the dictionary and of the blocks so far. */
  #window = headerDictionary;

  /** @throws SpdyError if the block is malformed or too long */
  decode(compressed: Buffer): Headers {
    const block = this.#inflate(this.#started ? compressed : withoutStart(compressed));
    this.#started = true;
    const seen = Buffer.concat([this.#window, block]);
    this.#window = seen.subarray(Math.max(0, seen.length - windowBytes));
    return decodeBlock(block);
  }

  #inflate(compressed: Buffer): Buffer {
    const options = {
      dictionary: this.#window,
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: headerBytesMax,
    };
    try {
      return inflateRawSync(compressed, options);
    } catch (error) {
      throw new SpdyError(`compressed headers: ${(error as Error).message}`);
    }
  }
}

function withoutStart(compressed: Buffer): Buffer {
  const [method, flags] = compressed;
  if (compressed.length < 2 || method === undefined || flags === undefined)
    throw new SpdyError("no compressed headers");
  if ((method & 0x0f) !== 8 || ((method << 8) | flags) % 31 !== 0)
    throw new SpdyError("compressed headers: not a zlib stream");
  if ((flags & 0x20) === 0) return compressed.subarray(2); // Written without the dictionary.
  if (!compressed.subarray(2, streamStart.length).equals(streamStart.subarray(2)))
    throw new SpdyError("compressed headers: an unknown dictionary");
  return compressed.subarray(streamStart.length);
}

function encodeBlock(headers: Headers): Buffer {
  const strings = [...headers].flatMap(([name, values]) => [name, values.join(valueSeparator)]);
  const parts = strings.map((string) => Buffer.from(string));
  const block = Buffer.alloc(4 + parts.reduce((sum, { length }) => sum + 4 + length, 0));
  let at = block.writeUInt32BE(headers.size);
  for (const part of parts) {
    at = block.writeUInt32BE(part.length, at);
    at += part.copy(block, at);
  }
  return block;
}

function decodeBlock(block: Buffer): Headers {
  let at = 0;
  const number = (): number => {
    if (at + 4 > block.length) throw new SpdyError("headers end early");
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const string = (): string => {
    const length = number();
    if (at + length > block.length) throw new SpdyError("headers end early");
    at += length;
    return block.toString("utf8", at - length, at);
  };
  const headers = new Map<string, readonly string[]>();
  // Each header is at least eight bytes, so that the block's length limits their number.
  for (let left = number(); left > 0; left--) {
    const name = string();
    if (name !== name.toLowerCase()) throw new SpdyError("a header's name is not in lower case");
    if (headers.has(name)) throw new SpdyError("a header occurs twice");
    headers.set(name, string().split(valueSeparator));
  }
  if (at !== block.length) throw new SpdyError("headers end late");
  return headers;
}
