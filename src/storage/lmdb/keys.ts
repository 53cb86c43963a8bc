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
