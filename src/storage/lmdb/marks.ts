/**
 * The marks as a value of the store: five f64 and the CRC-32 of them, little-endian: format, newest revision, newest compacted revision, bytes of
 * history, newest revision whose entries may be without a check. Later formats begin with their number, and end with the CRC-32, too.
 */
import { crc32 } from "node:zlib";
import { emptyMarks, type Marks } from "../embedded/ledger.ts";

/** Raised when the layout changes so that older servers must not open it. */
export const layoutFormat = 2;
/** Records, positions and expiries had no checks, and the marks were four f64. */
const uncheckedFormat = 1;
const uncheckedBytes = 32;

export const marksBytes = 44;
const checksumAt = marksBytes - 4;
/** The CRC-32 of any bytes and their own CRC-32. */
const residue = 0x2144df1c;

export interface StoredMarks extends Marks {
  /** The newest revision whose entries may be without a check: that of the last server that wrote none. */
  readonly uncheckedUntil: number;
}

export type MarksVerdict =
  | { readonly marks: StoredMarks }
  | { readonly newerFormat: number }
  | { readonly problem: string };

/** @param bytes of the value; undefined in a new store */
export function decodeMarks(bytes: Buffer | undefined): MarksVerdict {
  if (bytes === undefined) return { marks: { ...emptyMarks, uncheckedUntil: 0 } };
  const numbers = Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) => bytes.readDoubleLE(index * 8));
  const [format = 0, revision = 0, compacted = 0, historyBytes = 0, uncheckedUntil = 0] = numbers;
  const marks = { revision, compacted, historyBytes };
  if (bytes.length === uncheckedBytes && format === uncheckedFormat)
    return { marks: { ...marks, uncheckedUntil: revision } };
  if (crc32(bytes) !== residue) return { problem: "the checksum of the marks does not match" };
  return format === layoutFormat ? { marks: { ...marks, uncheckedUntil } } : { newerFormat: format };
}

/** @param bytes of which the first {@link marksBytes} are written */
export function encodeMarks({ revision, compacted, historyBytes, uncheckedUntil }: StoredMarks, bytes: Buffer): void {
  bytes.writeDoubleLE(layoutFormat, 0);
  bytes.writeDoubleLE(revision, 8);
  bytes.writeDoubleLE(compacted, 16);
  bytes.writeDoubleLE(historyBytes, 24);
  bytes.writeDoubleLE(uncheckedUntil, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, checksumAt)), checksumAt);
}
