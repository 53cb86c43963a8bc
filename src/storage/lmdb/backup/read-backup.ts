/** Reads a backup and verifies every byte. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Change, type Expiry, revisionOf } from "../../embedded/ledger.ts";
import { readRecord, recordProblem } from "../record.ts";
import {
  backupName,
  bodyBytesMax,
  type DamagedObject,
  type Frame,
  type FrameKind,
  frameChecksumBytes,
  frameHeaderBytes,
  frameKinds,
} from "./format.ts";

/** The backup is damaged or incomplete. */
export class DamagedBackup extends Error {
  constructor(path: string, problem: string) {
    super(`the backup ${path} is damaged: ${problem}`);
    this.name = "DamagedBackup";
  }
}

/** An entry of a backup. */
export type BackupEntry =
  | { readonly kind: "begin"; readonly revision: number; readonly takenAt: number }
  | { readonly kind: "record"; readonly change: Change }
  | { readonly kind: "expiry"; readonly expiry: Expiry }
  | { readonly kind: "damaged"; readonly object: DamagedObject };

/** Returns whether the file begins like a backup. @throws Error with code ENOENT, EIO, … */
export function isBackup(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const name = Buffer.alloc(backupName.length);
    return readSync(file, name) === name.length && name.equals(backupName);
  } finally {
    closeSync(file);
  }
}

/**
 * Iterates over the entries, `begin` first. The backup is complete when the iteration ends without
 * an error.
 * @param onProgress called after each entry with the bytes read so far, and the size of the file
 * @throws DamagedBackup during the iteration
 */
export function* readBackup(
  path: string,
  onProgress: (read: number, of: number) => void = () => {},
): Generator<BackupEntry> {
  const counts = { record: 0, expiry: 0, damaged: 0 };
  let hasBegun = false;
  for (const { kind, body } of frames(path, onProgress)) {
    if ((kind === "begin") === hasBegun) throw new DamagedBackup(path, "its entries are not in order");
    if (kind === "begin") {
      hasBegun = true;
      yield { kind, revision: body.readDoubleLE(0), takenAt: body.readDoubleLE(8) };
    } else if (kind === "end") {
      const expected = [body.readDoubleLE(0), body.readDoubleLE(8), body.readDoubleLE(16)];
      if (expected.join() !== [counts.record, counts.expiry, counts.damaged].join())
        throw new DamagedBackup(path, "entries of it are missing");
      return;
    } else {
      counts[kind]++;
      yield decodeEntry(path, kind, body);
    }
  }
  throw new DamagedBackup(path, "it ends too early");
}

function decodeEntry(path: string, kind: "record" | "expiry" | "damaged", body: Buffer): BackupEntry {
  if (kind === "damaged") return { kind, object: JSON.parse(body.toString()) as DamagedObject };
  const first = body.readDoubleLE(0);
  if (kind === "expiry")
    return { kind, expiry: { at: first, position: body.readDoubleLE(8), key: body.toString("utf8", 16) } };
  const record = body.subarray(8);
  // The checksum of the frame was verified; the record may be one without its own checksum.
  const problem = recordProblem(first, record, { uncheckedUntil: revisionOf(first) });
  if (problem !== undefined) throw new DamagedBackup(path, problem);
  return { kind, change: readRecord(first, record) };
}

const kindOf = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([kind, number]) => [number, kind as FrameKind]),
);
/** Minimum length of a body: its leading numbers. */
const bodyBytesMin: Readonly<Record<FrameKind, number>> = { begin: 16, record: 8, expiry: 16, damaged: 2, end: 24 };
const pieceBytes = 1 << 20;

function* frames(path: string, onProgress: (read: number, of: number) => void): Generator<Frame> {
  const file = openSync(path, "r");
  try {
    const size = fstatSync(file).size;
    const take = reader(file, size);
    if (take(backupName.length)?.equals(backupName) !== true)
      throw new DamagedBackup(path, "it does not begin as a backup does");
    for (let at = backupName.length; at < size; ) {
      const header = take(frameHeaderBytes);
      const bodyBytes = header?.readUInt32LE(0) ?? 0;
      const rest = bodyBytes > bodyBytesMax ? undefined : take(bodyBytes + frameChecksumBytes);
      if (header === undefined || rest === undefined)
        throw new DamagedBackup(path, `the entry at byte ${at} is cut off`);
      const body = rest.subarray(0, bodyBytes);
      const kind = kindOf.get(header[4] as number);
      const isWhole = crc32(body, crc32(header)) === rest.readUInt32LE(bodyBytes);
      if (!isWhole || kind === undefined || bodyBytes < bodyBytesMin[kind])
        throw new DamagedBackup(path, `the checksum of the entry at byte ${at} does not match`);
      at += frameHeaderBytes + bodyBytes + frameChecksumBytes;
      onProgress(at, size);
      yield { kind, body };
    }
  } finally {
    closeSync(file);
  }
}

/**
 * @returns a function that reads the next bytes of the file into memory that is not reused;
 * undefined at the end of the file
 */
function reader(file: number, size: number): (length: number) => Buffer | undefined {
  let piece = Buffer.alloc(0);
  let offset = 0;
  return (length) => {
    if (length > piece.length) {
      if (offset + length - piece.length > size) return undefined;
      const next = Buffer.allocUnsafeSlow(Math.max(length, pieceBytes));
      const kept = piece.copy(next);
      const count = readSync(file, next, kept, next.length - kept, offset);
      offset += count;
      piece = next.subarray(0, kept + count);
      if (piece.length < length) return undefined;
    }
    const taken = piece.subarray(0, length);
    piece = piece.subarray(length);
    return taken;
  };
}
