import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bitString, decodeValues, encodeValue, objectIdentifier, sequence, tags } from "./der.ts";

const zeros = (length: number): string => "00".repeat(length);
const encodedRows: [what: string, encoded: Buffer, hex: string][] = [
  ["nothing", sequence(), "3000"],
  ["parts", sequence(encodeValue(tags.null), encodeValue(tags.integer, Buffer.of(1))), "30050500020101"],
  ["the longest short length", encodeValue(tags.octetString, Buffer.alloc(127)), `047f${zeros(127)}`],
  ["a length of one byte", encodeValue(tags.octetString, Buffer.alloc(128)), `048180${zeros(128)}`],
  ["a length of two bytes", encodeValue(tags.octetString, Buffer.alloc(256)), `04820100${zeros(256)}`],
  ["a bit string", bitString(Buffer.of(0xab)), "030200ab"],
  ["an object identifier", objectIdentifier("2.5.29.19"), "0603551d13"],
  ["one with large numbers", objectIdentifier("1.2.840.113549.1.1.11"), "06092a864886f70d01010b"],
  ["a field", encodeValue(tags.explicit(3)), "a300"],
];
describe("encodes", () => {
  for (const [what, encoded, hex] of encodedRows) test(what, () => assert.equal(encoded.toString("hex"), hex));
});

const shown = (hex: string): string[] =>
  decodeValues(Buffer.from(hex, "hex")).map(
    ({ tag, contents, whole }) => `${tag} ${contents.toString("hex")} ${whole.toString("hex")}`,
  );

test("decodes values one after the other", () => {
  assert.deepEqual(shown("05000401ff"), ["5  0500", "4 ff 0401ff"]);
  assert.deepEqual(shown(`048180${zeros(128)}`), [`4 ${zeros(128)} 048180${zeros(128)}`]);
  assert.deepEqual(shown(""), []);
});

for (const hex of ["30", "3001", "300205", "3080", "3085", "308500000000010a", "3082ff", "3084ffffffff"])
  test(`rejects ${hex}`, () => void assert.throws(() => shown(hex), /^Error: asn1: /));
