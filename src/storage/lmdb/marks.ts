/**
 * Encoding of the marks: five f64 and their CRC-32, little-endian. The numbers are the format, the
 * newest revision, the newest compacted revision, the bytes of history, and the newest revision
 * whose entries may have no checks. Later formats must also begin with their number and end with
 * the CRC-32.
 */
import { crc32 } from "node:zlib";
import { emptyMarks, type Marks } from "../embedded/ledger.ts";

/** Incremented when the layout changes so that older servers must not open the store. */
export const layoutFormat = 2;
/** In format 1, records, positions and expiries have no checks, and the marks are four f64. */
const uncheckedFormat = 1;
const uncheckedBytes = 32;

export const marksBytes = 44;
const checksumAt = marksBytes - 4;
/** The CRC-32 of any bytes followed by their CRC-32. */
const residue = 0x2144df1c;

export interface StoredMarks extends Marks {
  /**
   * The newest revision written by a server that wrote no checks; entries up to it may have none.
   */
  readonly uncheckedUntil: number;
}

type MarksVerdict = { readonly marks: StoredMarks } | { readonly newerFormat: number } | { readonly problem: string };

/** @param bytes the value; undefined in a new store */
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

/** Writes the marks into the first {@link marksBytes} bytes. */
export function encodeMarks({ revision, compacted, historyBytes, uncheckedUntil }: StoredMarks, bytes: Buffer): void {
  bytes.writeDoubleLE(layoutFormat, 0);
  bytes.writeDoubleLE(revision, 8);
  bytes.writeDoubleLE(compacted, 16);
  bytes.writeDoubleLE(historyBytes, 24);
  bytes.writeDoubleLE(uncheckedUntil, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, checksumAt)), checksumAt);
}
