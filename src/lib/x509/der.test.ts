import assert from "node:assert/strict";
import { test } from "node:test";
import { bitString, integer, itemsOf, objectIdentifier, octetString, sequence, time } from "./der.ts";

// Source of the encodings: `openssl asn1parse -genstr`.
const rows: [what: string, encoded: Buffer, hex: string][] = [
  ["zero", integer(Buffer.from([0])), "020100"],
  ["an integer with its first bit set", integer(Buffer.from([0x80])), "02020080"],
  ["an integer with leading zeros", integer(Buffer.from([0, 0, 1])), "020101"],
  ["an identifier", objectIdentifier("1.2.840.10045.4.3.2"), "06082a8648ce3d040302"],
  ["bits", bitString(Buffer.from([0x86]), 1), "03020186"],
  ["a time", time(Date.UTC(2026, 0, 2, 3, 4, 5)), "170d3236303130323033303430355a"],
  ["a time after 2049", time(Date.UTC(2050, 0, 2, 3, 4, 5)), "180f32303530303130323033303430355a"],
  ["a long value", octetString(Buffer.alloc(0x80)).subarray(0, 3), "048180"],
  ["a longer value", octetString(Buffer.alloc(0x1234)).subarray(0, 4), "04821234"],
];
for (const [what, encoded, hex] of rows) test(`DER: ${what}`, () => assert.equal(encoded.toString("hex"), hex));

test("DER: the items of a sequence come back whole", () => {
  const items = [integer(Buffer.from([1])), octetString(Buffer.alloc(300)), sequence()];
  assert.deepEqual(itemsOf(sequence(...items)), items);
});

test("DER: what is cut off is an error", () => {
  const whole = sequence(octetString(Buffer.alloc(300)));
  assert.throws(() => itemsOf(whole.subarray(0, 100)), RangeError);
});
