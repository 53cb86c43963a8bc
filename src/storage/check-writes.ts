/** The limits of a commit, which all engines share. */
import assert from "node:assert/strict";
import { type DerivedWrite, ValueTooLarge, type Write } from "./contract.ts";

/** Writes of one commit: etcd's default limit (`--max-txn-ops`). */
export const writesMax = 128;
/** Bytes of a key; LMDB's limit is 1978. */
const keyBytesMax = 1900;

/** @throws ValueTooLarge · AssertionError when the caller breaks the contract */
export function checkWrites(writes: readonly (Write | DerivedWrite)[], valueBytesMax: number): void {
  assert.ok(writes.length <= writesMax, `a commit has at most ${writesMax} writes`);
  assert.ok(writes.length < 2 || !hasDuplicates(writes), "a commit writes each key once");
  for (const write of writes) {
    const { key } = write;
    assert.ok(key.length > 0, "a key is not empty");
    if (!isDerived(write) && write.value !== null) checkValue(write.value, valueBytesMax);
    // A UTF-16 code unit has at most three bytes in UTF-8.
    if (key.length * 3 > keyBytesMax && Buffer.byteLength(key) > keyBytesMax)
      throw new ValueTooLarge(Buffer.byteLength(key), keyBytesMax);
  }
}

/** @throws ValueTooLarge */
export function checkValue({ length }: Buffer, valueBytesMax: number): void {
  if (length > valueBytesMax) throw new ValueTooLarge(length, valueBytesMax);
}

export function isDerived(write: Write | DerivedWrite): write is DerivedWrite {
  return "derive" in write;
}

function hasDuplicates(writes: readonly { readonly key: string }[]): boolean {
  if (writes.length === 2) return writes[0]?.key === writes[1]?.key;
  return new Set(writes.map(({ key }) => key)).size < writes.length;
}
