/** How keys are written into LMDB, which orders them as bytes. */

/** What lmdb-js asks of a key encoder. @returns where the key ends */
export interface KeyEncoder<Key> {
  writeKey(key: Key, target: Buffer, start: number): number;
  readKey(source: Buffer, start: number, end: number): Key;
}

export const textKey: KeyEncoder<string> = {
  writeKey: (key, target, start) => start + target.write(key, start),
  readKey: (source, start, end) => source.toString("utf8", start, end),
};

/** A safe integer that is not negative. */
export const integerKey: KeyEncoder<number> = {
  writeKey: writeInteger,
  readKey: readInteger,
};

/** When, and the position of the put. */
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
