/**
 * A change as the log's value: a header of 40 bytes, the key, the value. Little-endian.
 *
 *     0 u8 type: 1 put, 2 deletion · 1 u8 whether it has a seal · 2 u16 bytes of the key · 4 u32 fingerprint · 8 u32 versionOffset
 *     12 u32 itemOffset · 16 f64 milliseconds since 1970 · 24 f64 position of the state before · 32 f64 bytes of history
 */
import type { Change, ChangeHead } from "../embedded/ledger.ts";

const headerBytes = 40;

/** Bytes that {@link writeRecord} needs at most. */
export function recordBytesMax({ key, value }: Change): number {
  return headerBytes + key.length * 3 + value.length;
}

/** Bytes to write into, and a view of all of them. */
export interface Arena {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** @returns where the record ends */
export function writeRecord(change: Change, { bytes, view }: Arena, start: number): number {
  const { type, key, value, seal, at, previous, historyBytes } = change;
  const keyBytes = bytes.write(key, start + headerBytes);
  view.setUint8(start, type === "put" ? 1 : 2);
  view.setUint8(start + 1, seal === undefined ? 0 : 1);
  view.setUint16(start + 2, keyBytes, true);
  view.setUint32(start + 4, seal?.fingerprint ?? 0, true);
  view.setUint32(start + 8, seal?.versionOffset ?? 0, true);
  view.setUint32(start + 12, seal?.itemOffset ?? 0, true);
  view.setFloat64(start + 16, at, true);
  view.setFloat64(start + 24, previous, true);
  view.setFloat64(start + 32, historyBytes, true);
  bytes.set(value, start + headerBytes + keyBytes);
  return start + headerBytes + keyBytes + value.length;
}

export function readHead(position: number, record: Buffer): ChangeHead {
  return {
    type: record[0] === 1 ? "put" : "delete",
    key: record.toString("utf8", headerBytes, headerBytes + record.readUInt16LE(2)),
    position,
    at: record.readDoubleLE(16),
    previous: record.readDoubleLE(24),
    historyBytes: record.readDoubleLE(32),
  };
}

/** Where the value begins in a record. */
export function valueStart(record: Buffer): number {
  return headerBytes + record.readUInt16LE(2);
}

/** @param length of the record, which may be shorter than the buffer it is in. The value is copied. */
export function readRecord(position: number, record: Buffer, length: number): Change {
  const head = readHead(position, record);
  const start = valueStart(record);
  const value = Buffer.allocUnsafeSlow(length - start);
  record.copy(value, 0, start, length);
  if (record[1] === 0) return { ...head, value };
  const seal = { fingerprint: record.readUInt32LE(4), versionOffset: record.readUInt32LE(8), itemOffset: record.readUInt32LE(12) };
  return { ...head, value, seal };
}
