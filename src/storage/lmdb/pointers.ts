/**
 * Encoding of index entries. The value for a key is the position of its latest put, and a checksum
 * of both. The value for a time and a position is the key that expires, and a checksum of the
 * three. Entries of format 1 have no checksums.
 */
import { type Expiry, revisionOf, unknownPosition } from "../embedded/ledger.ts";
import { entryCheck, numberCheck } from "./entry-check.ts";
import { integerKey } from "./keys.ts";
import type { RecordRules } from "./record.ts";

const uncheckedBytes = 8;
const checkedBytes = 12;
/** Bytes written by {@link encodePosition}. */
export const pointerBytes = checkedBytes;

/** @returns the end of the value in `bytes` */
export function encodePosition(key: string, position: number, bytes: Buffer, start: number): number {
  return bytes.writeUInt32BE(entryCheck(position, key), integerKey.writeKey(position, bytes, start));
}

/**
 * @param value a buffer whose first `length` bytes are the value
 * @returns {@link unknownPosition} when it is damaged
 */
export function decodePosition(key: string, value: Buffer, length: number, rules: RecordRules): number {
  if (length !== checkedBytes && length !== uncheckedBytes) return unknownPosition;
  const position = integerKey.readKey(value, 0, 8);
  const isValid =
    length === checkedBytes
      ? value.readUInt32BE(8) === entryCheck(position, key)
      : revisionOf(position) <= rules.uncheckedUntil;
  return isValid && position > 0 ? position : unknownPosition;
}

export function encodeExpiry({ at, position, key }: Expiry): Buffer {
  const keyBytes = Buffer.byteLength(key);
  const value = Buffer.allocUnsafe(keyBytes + 4);
  value.writeUInt32BE(entryCheck(position, key, numberCheck(at)), value.write(key));
  return value;
}

/** @returns undefined when it is damaged */
export function decodeExpiry(at: number, position: number, value: Buffer, rules: RecordRules): Expiry | undefined {
  if (revisionOf(position) <= rules.uncheckedUntil) return { at, position, key: value.toString() };
  if (value.length <= 4) return undefined;
  const key = value.toString("utf8", 0, value.length - 4);
  return value.readUInt32BE(value.length - 4) === entryCheck(position, key, numberCheck(at))
    ? { at, position, key }
    : undefined;
}
