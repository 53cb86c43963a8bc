/** How keys and values lie in LMDB. All numbers are big-endian, so that bytes sort as numbers do. */
import type { Seal } from "../contract.ts";

/** Where a value lies in the log: its revision, and its place among the writes of that commit. */
export interface Place {
  readonly revision: number;
  readonly index: number;
}

export const placeBytes = 10;

export function encodePlace({ revision, index }: Place): Buffer {
  const bytes = Buffer.allocUnsafe(placeBytes);
  writePlace(bytes, 0, revision, index);
  return bytes;
}

function writePlace(bytes: Buffer, at: number, revision: number, index: number): void {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), at);
  bytes.writeUInt32BE(revision >>> 0, at + 4);
  bytes.writeUInt16BE(index, at + 8);
}

export function decodePlace(bytes: Buffer, at = 0): Place {
  return { revision: bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4), index: bytes.readUInt16BE(at + 8) };
}

/** The current state of a key: where its last record lies, and whether that record is a deletion. */
export interface Head extends Place {
  readonly deleted: boolean;
}

export function encodeHead({ revision, index, deleted }: Head): Buffer {
  const bytes = Buffer.allocUnsafe(placeBytes + 1);
  writePlace(bytes, 0, revision, index);
  bytes[placeBytes] = deleted ? 1 : 0;
  return bytes;
}

export function decodeHead(bytes: Buffer): Head {
  return { ...decodePlace(bytes), deleted: bytes[placeBytes] === 1 };
}

/** One change of one key. */
export interface LogRecord {
  readonly key: string;
  /** null: the key was deleted. */
  readonly value: Buffer | null;
  readonly seal: Seal | undefined;
  /** The key's record before this one, a deletion included; revision 0 when there is none. */
  readonly previous: Place;
  /** Whether the key was absent before. */
  readonly creates: boolean;
  /** Milliseconds since 1970, when the store deletes it; 0 for never. */
  readonly expiresAt: number;
}

const deletedFlag = 1;
const sealedFlag = 2;
const createsFlag = 4;
/** flags 1 · key length 2 · previous 10 · expiresAt 8 · seal 12 */
const headBytes = 33;

export function encodeRecord({ key, value, seal, previous, creates, expiresAt }: LogRecord): Buffer {
  const keyLength = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(headBytes + keyLength + (value?.length ?? 0));
  bytes[0] = (value === null ? deletedFlag : 0) | (seal === undefined ? 0 : sealedFlag) | (creates ? createsFlag : 0);
  bytes.writeUInt16BE(keyLength, 1);
  writePlace(bytes, 3, previous.revision, previous.index);
  bytes.writeDoubleBE(expiresAt, 13);
  bytes.writeUInt32BE(seal?.fingerprint ?? 0, 21);
  bytes.writeUInt32BE(seal?.versionOffset ?? 0, 25);
  bytes.writeUInt32BE(seal?.itemOffset ?? 0, 29);
  bytes.write(key, headBytes);
  value?.copy(bytes, headBytes + keyLength);
  return bytes;
}

/** The value is copied: LMDB's memory is not ours to keep. */
export function decodeRecord(bytes: Buffer): LogRecord {
  const flags = bytes[0] as number;
  const valueAt = headBytes + bytes.readUInt16BE(1);
  let value: Buffer | null = null;
  if ((flags & deletedFlag) === 0) {
    value = Buffer.allocUnsafeSlow(bytes.length - valueAt);
    bytes.copy(value, 0, valueAt);
  }
  return {
    key: bytes.toString("utf8", headBytes, valueAt),
    value,
    seal:
      (flags & sealedFlag) === 0
        ? undefined
        : { fingerprint: bytes.readUInt32BE(21), versionOffset: bytes.readUInt32BE(25), itemOffset: bytes.readUInt32BE(29) },
    previous: decodePlace(bytes, 3),
    creates: (flags & createsFlag) !== 0,
    expiresAt: bytes.readDoubleBE(13),
  };
}

/** What can be forgotten once its revision is compacted: the record it superseded, and itself when it is a deletion. */
export interface Waste {
  readonly superseded: Place;
  /** Milliseconds since 1970 of the commit. */
  readonly at: number;
  readonly bytes: number;
}

export function encodeWaste({ superseded, at, bytes }: Waste): Buffer {
  const result = Buffer.allocUnsafe(placeBytes + 12);
  writePlace(result, 0, superseded.revision, superseded.index);
  result.writeDoubleBE(at, placeBytes);
  result.writeUInt32BE(bytes, placeBytes + 8);
  return result;
}

export function decodeWaste(bytes: Buffer): Waste {
  return { superseded: decodePlace(bytes), at: bytes.readDoubleBE(placeBytes), bytes: bytes.readUInt32BE(placeBytes + 8) };
}

/** Sorts by time, then by place. */
export function encodeExpiry(expiresAt: number, place: Place): Buffer {
  const bytes = Buffer.allocUnsafe(8 + placeBytes);
  bytes.writeDoubleBE(expiresAt, 0); // Positive doubles sort as their bytes do.
  writePlace(bytes, 8, place.revision, place.index);
  return bytes;
}

export function decodeExpiry(bytes: Buffer): { readonly expiresAt: number; readonly place: Place } {
  return { expiresAt: bytes.readDoubleBE(0), place: decodePlace(bytes, 8) };
}
