/** Encodings of keys in LMDB, which orders them by their bytes. */

/** The key encoder interface of lmdb-js. */
export interface KeyEncoder<Key> {
  /** @returns the end of the key in the target */
  writeKey(key: Key, target: Buffer, start: number): number;
  readKey(source: Buffer, start: number, end: number): Key;
}

export const textKey: KeyEncoder<string> = {
  writeKey: (key, target, start) => start + target.write(key, start),
  readKey: (source, start, end) => source.toString("utf8", start, end),
};

/** The bytes of a text key, valid until the next read of the environment. */
export interface KeyBytes {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** As {@link textKey}, and keeps the bytes of the key that it decoded last. */
export interface ScannedKey extends KeyEncoder<string> {
  readonly last: KeyBytes;
}

/** Creates the encoder of one map. lmdb-js calls its methods without a receiver. */
export function scannedKey(): ScannedKey {
  const last: { bytes: Buffer; start: number; end: number } = { bytes: Buffer.alloc(0), start: 0, end: 0 };
  return {
    last,
    writeKey: textKey.writeKey,
    readKey(source, start, end) {
      last.bytes = source;
      last.start = start;
      last.end = end;
      return textKey.readKey(source, start, end);
    },
  };
}

/** A non-negative safe integer. */
export const integerKey: KeyEncoder<number> = {
  writeKey: writeInteger,
  readKey: readInteger,
};

/** The time in milliseconds since 1970, and the position of the put. */
export const expiryKey: KeyEncoder<[at: number, position: number]> = {
  writeKey: ([at, position], target, start) => writeInteger(position, target, writeInteger(at, target, start)),
  readKey: (source, start) => [readInteger(source, start), readInteger(source, start + 8)],
};

function writeInteger(value: number, target: Buffer, start: number): number {
  const high = Math.floor(value / 2 ** 32);
  return target.writeUInt32BE(value - high * 2 ** 32, target.writeUInt32BE(high, start));
}

function readInteger(source: Buffer, start: number): number {
  return source.readUInt32BE(start) * 2 ** 32 + source.readUInt32BE(start + 4);
}
