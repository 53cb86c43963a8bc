/**
 * A change as the log's value: a header of 40 bytes, the key, the value, a checksum. Little-endian.
 *
 *     0 u8 kind · 1 u8 flags · 2 u16 bytes of the key · 4 u32 fingerprint · 8 u32 versionOffset · 12 u32 itemOffset
 *     16 f64 milliseconds since 1970 · 24 f64 position of the state before · 32 f64 bytes of history
 *     40 the key · the value · u32 CRC-32 of all bytes before, which starts from the position
 *
 * Stores of format 1 have records without the checksum, of other kinds.
 */
import { crc32 } from "node:zlib";
import { type Change, type ChangeHead, revisionOf } from "../embedded/ledger.ts";

/** Three bits or more from each other, from zero, and from those of format 1: one flipped bit does not make a kind of another. */
const put = 0xb5;
const deletion = 0x5c;
/** Of format 1. */
const uncheckedPut = 1;
const uncheckedDeletion = 2;

const sealed = 1;
/** Another change of the same commit follows. */
const continued = 2;
/** The record at `previous` is damaged, and may be that of another key. */
const afterDamage = 4;

const headerBytes = 40;
export const checksumBytes = 4;
/** The CRC-32 of any bytes and their own CRC-32. */
const residue = 0x2144df1c;

/** Bytes that {@link writeRecord} needs at most. */
export function recordBytesMax({ key, value }: Change): number {
  return headerBytes + key.length * 3 + value.length + checksumBytes;
}

/** Bytes to write into, and a view of all of them. */
export interface Arena {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** @param isContinued another change of the same commit follows. @returns where the record ends */
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
  /** The newest revision whose records may be without a checksum. */
  readonly uncheckedUntil: number;
}

/** @param record all of it. @returns why the record cannot be that of the position; undefined when it can */
export function recordProblem(position: number, record: Buffer, { uncheckedUntil }: RecordRules): string | undefined {
  const kind = record[0];
  if (kind === put || kind === deletion)
    return crc32(record, checksumSeed(position)) === residue ? undefined : "the checksum does not match";
  if (kind !== uncheckedPut && kind !== uncheckedDeletion) return "the bytes are not those of a record";
  if (revisionOf(position) > uncheckedUntil) return "the checksum is missing";
  return record.length < headerBytes || record.length < valueStart(record) ? "the record is cut off" : undefined;
}

/** So that the record of one position is not taken for that of another. */
function checksumSeed(position: number): number {
  const high = Math.floor(position / 2 ** 32);
  return (position ^ Math.imul(high, 0x9e3779b1)) >>> 0;
}

/** @param record without {@link recordProblem} */
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

/** Whether the next record is of the same commit; undefined when the record does not say. */
export function isContinued(record: Buffer): boolean | undefined {
  return isChecked(record) ? ((record[1] as number) & continued) !== 0 : undefined;
}

/** @param record without {@link recordProblem} */
export function valueBytes(record: Buffer): number {
  return valueEnd(record) - valueStart(record);
}

/** @param record without {@link recordProblem}; never changed afterwards, since the value is a view of it */
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
  return isChecked(record) ? record.length - checksumBytes : record.length;
}

function isChecked(record: Buffer): boolean {
  return record[0] === put || record[0] === deletion;
}
