/**
 * The form of a backup: a line that names it, then frames. Little-endian.
 *
 *     frame: u32 bytes of the body · u8 kind · the body · u32 CRC-32 of all before it in the frame
 *     begin:   f64 revision · f64 milliseconds since 1970
 *     record:  f64 position · the record as the log has it
 *     expiry:  f64 milliseconds since 1970 · f64 position · the key
 *     damaged: JSON of a {@link DamagedObject}, which the store had and the backup has not
 *     end:     f64 number of records · f64 number of expiries · f64 number of damaged
 */
import { crc32 } from "node:zlib";

export const backupName = Buffer.from("coxswain backup 1\n");

export const frameKinds = { begin: 1, record: 2, expiry: 3, damaged: 4, end: 5 } as const;
export type FrameKind = keyof typeof frameKinds;

export interface DamagedObject {
  readonly key: string;
  /** Undefined when it is not known. */
  readonly revision?: number;
  readonly problem: string;
}

export interface Frame {
  readonly kind: FrameKind;
  readonly body: Buffer;
}

export const frameHeaderBytes = 5;
export const frameChecksumBytes = 4;
/** More than any store has in one entry. A length beyond it is damage. */
export const bodyBytesMax = 256 << 20;

/** @param numbers before the bytes */
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
