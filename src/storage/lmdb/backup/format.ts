/**
 * The format of a backup: a line that names the format, then frames. Little-endian.
 *
 * frame: u32 bytes of the body · u8 kind · the body · u32 CRC-32 of all previous bytes of the frame
 * begin: f64 revision · f64 milliseconds since 1970 record: f64 position · the record as stored in
 * the log expiry: f64 milliseconds since 1970 · f64 position · the key damaged: JSON of a
 * {@link DamagedObject}, which could not be backed up end: f64 number of records · f64 number of
 * expiries · f64 number of damaged
 */
import { crc32 } from "node:zlib";

export const backupName = Buffer.from("coxswain backup 1\n");

export const frameKinds = { begin: 1, record: 2, expiry: 3, damaged: 4, end: 5 } as const;
export type FrameKind = keyof typeof frameKinds;

/** An object of the store that is damaged. */
export interface DamagedObject {
  readonly key: string;
  /** Undefined when unknown. */
  readonly revision?: number;
  readonly problem: string;
}

export interface Frame {
  readonly kind: FrameKind;
  readonly body: Buffer;
}

export const frameHeaderBytes = 5;
export const frameChecksumBytes = 4;
/** Larger than any entry of a store, so a larger length is damage. */
export const bodyBytesMax = 256 << 20;

/** @param numbers written as f64 before the bytes */
export function encodeFrame(kind: FrameKind, numbers: readonly number[], bytes: Uint8Array = new Uint8Array()): Buffer {
  const bodyBytes = numbers.length * 8 + bytes.length;
  const frame = Buffer.allocUnsafe(frameHeaderBytes + bodyBytes + frameChecksumBytes);
  frame[frame.writeUInt32LE(bodyBytes, 0)] = frameKinds[kind];
  let at = frameHeaderBytes;
  for (const number of numbers) at = frame.writeDoubleLE(number, at);
  frame.set(bytes, at);
  const end = frameHeaderBytes + bodyBytes;
  frame.writeUInt32LE(crc32(frame.subarray(0, end)), end);
  return frame;
}
