/**
 * Encoding of a change in the log: a header of 40 bytes, the key, the value, a checksum.
 * Little-endian.
 *
 * 0 u8 kind · 1 u8 flags · 2 u16 bytes of the key · 4 u32 fingerprint · 8 u32 versionOffset · 12
 * u32 itemOffset 16 f64 milliseconds since 1970 · 24 f64 position of the previous put · 32 f64
 * bytes of history 40 the key · the value · u32 CRC-32 of all previous bytes, seeded with the
 * position
 *
 * Records of format 1 have other kinds and no checksum.
 */
import { crc32 } from "node:zlib";
import { type Change, type ChangeHead, revisionOf } from "../embedded/ledger.ts";

/**
 * Kinds differ from each other, from zero and from those of format 1 in at least three bits, so
 * that a flipped bit is detected.
 */
const put = 0xb5;
const deletion = 0x5c;
/** The kinds of format 1. */
const uncheckedPut = 1;
const uncheckedDeletion = 2;

const sealed = 1;
/** Another change of the same commit follows. */
const continued = 2;
/** The record at `previous` is damaged, and may belong to another key. */
const afterDamage = 4;

const headerBytes = 40;
const checksumBytes = 4;
/** The CRC-32 of any bytes followed by their CRC-32. */
const residue = 0x2144df1c;

/** Returns the maximum number of bytes that {@link writeRecord} writes. */
export function recordBytesMax({ key, value }: Change): number {
  return headerBytes + key.length * 3 + value.length + checksumBytes;
}

/** A buffer to write into, and a view of all its bytes. */
export interface Arena {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/**
 * @param isContinued whether another change of the same commit follows
 * @returns the end of the record in the arena
 */
export function writeRecord(change: Change, { bytes, view }: Arena, start: number, isContinued: boolean): number {
  const { type, key, position, value, seal, at, previous, previousDamaged, historyBytes } = change;
  const keyBytes = bytes.write(key, start + headerBytes);
  view.setUint8(start, type === "put" ? put : deletion);
  view.setUint8(
    start + 1,
    (seal === undefined ? 0 : sealed) | (isContinued ? continued : 0) | (previousDamaged ? afterDamage : 0),
  );
  view.setUint16(start + 2, keyBytes, true);
  view.setUint32(start + 4, seal?.fingerprint ?? 0, true);
  view.setUint32(start + 8, seal?.versionOffset ?? 0, true);
  view.setUint32(start + 12, seal?.itemOffset ?? 0, true);
  view.setFloat64(start + 16, at, true);
  view.setFloat64(start + 24, previous, true);
  view.setFloat64(start + 32, historyBytes, true);
  bytes.set(value, start + headerBytes + keyBytes);
  const end = start + headerBytes + keyBytes + value.length;
  view.setUint32(end, crc32(bytes.subarray(start, end), checksumSeed(position)), true);
  return end + checksumBytes;
}

export interface RecordRules {
  /** The newest revision whose records may have no checksum. */
  readonly uncheckedUntil: number;
}

/** @returns why the record is not that of the position; undefined when it is valid */
export function recordProblem(position: number, record: Buffer, { uncheckedUntil }: RecordRules): string | undefined {
  const kind = record[0];
  if (kind === put || kind === deletion)
    return crc32(record, checksumSeed(position)) === residue ? undefined : "the checksum does not match";
  if (kind !== uncheckedPut && kind !== uncheckedDeletion) return "the bytes are not those of a record";
  if (revisionOf(position) > uncheckedUntil) return "the checksum is missing";
  return record.length < headerBytes || record.length < valueStart(record) ? "the record is cut off" : undefined;
}

/** Seeds the checksum with the position, so that a record at a wrong position is detected. */
function checksumSeed(position: number): number {
  const high = Math.floor(position / 2 ** 32);
  return (position ^ Math.imul(high, 0x9e3779b1)) >>> 0;
}

/** @param record a record without {@link recordProblem} */
export function readHead(position: number, record: Buffer): ChangeHead {
  const head: ChangeHead = {
    type: record[0] === put || record[0] === uncheckedPut ? "put" : "delete",
    key: record.toString("utf8", headerBytes, valueStart(record)),
    position,
    at: record.readDoubleLE(16),
    previous: record.readDoubleLE(24),
    historyBytes: record.readDoubleLE(32),
  };
  return ((record[1] as number) & afterDamage) === 0 ? head : { ...head, previousDamaged: true };
}

/**
 * Returns whether the next record belongs to the same commit; undefined for format 1, which does
 * not store it.
 */
export function isContinued(record: Buffer): boolean | undefined {
  return hasChecksum(record) ? ((record[1] as number) & continued) !== 0 : undefined;
}

/** @param record a record without {@link recordProblem} */
export function valueBytes(record: Buffer): number {
  return valueEnd(record) - valueStart(record);
}

/**
 * @param record a record without {@link recordProblem}; it must not change, because the value is a
 * view of it
 */
export function readRecord(position: number, record: Buffer): Change {
  const head = readHead(position, record) as Change;
  const value = record.subarray(valueStart(record), valueEnd(record));
  if (((record[1] as number) & sealed) === 0) return { ...head, value };
  const seal = {
    fingerprint: record.readUInt32LE(4),
    versionOffset: record.readUInt32LE(8),
    itemOffset: record.readUInt32LE(12),
  };
  return { ...head, value, seal };
}

function valueStart(record: Buffer): number {
  return headerBytes + record.readUInt16LE(2);
}

function valueEnd(record: Buffer): number {
  return hasChecksum(record) ? record.length - checksumBytes : record.length;
}

/** Whether the record ends with a checksum: those of format 1 have none. */
export function hasChecksum(record: Buffer): boolean {
  return record[0] === put || record[0] === deletion;
}
