import assert from "node:assert/strict";
import { test } from "node:test";
import { bitString, contentOf, elementsOf, integer, objectIdentifier, octetString, sequence, time, utf8String } from "./der.ts";

const rows: [what: string, element: Buffer, hex: string][] = [
  ["an object identifier", objectIdentifier("1.2.840.10045.4.3.2"), "06082a8648ce3d040302"],
  ["one of small numbers", objectIdentifier("2.5.4.3"), "0603550403"],
  ["a time of the short form", time(Date.UTC(2049, 11, 31, 23, 59, 59, 999)), Buffer.from("\x17\x0d491231235959Z").toString("hex")],
  ["a time of the long form", time(Date.UTC(2050, 0, 1)), Buffer.from("\x18\x0f20500101000000Z").toString("hex")],
  ["bits", bitString(Buffer.from([0x86]), 1), "03020186"],
  ["text", utf8String("ü"), "0c02c3bc"],
  ["nothing", sequence(), "3000"],
  ["several", sequence(integer(Buffer.from([2])), sequence()), "30050201023000"],
];
for (const [what, element, hex] of rows) {
  test(`DER: ${what}`, () => assert.equal(element.toString("hex"), hex));
}

for (const length of [0, 0x7f, 0x80, 0xff, 0x100, 0xfff0]) {
  test(`DER: ${length} bytes are found again`, () => {
    const bytes = Buffer.alloc(length, 1);
    const [first, second, ...more] = elementsOf(sequence(octetString(bytes), utf8String("next")));
    assert.deepEqual(contentOf(first as Buffer), bytes);
    assert.deepEqual(second, utf8String("next"));
    assert.deepEqual(more, []);
  });
}

test("DER: what is longer is a mistake", () => assert.throws(() => octetString(Buffer.alloc(0x1_0000)), /longer than any certificate/));
