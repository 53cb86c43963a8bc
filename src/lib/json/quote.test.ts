/** Quoting escapes the characters that `escapeGo` escapes, one by one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { escapeGo, quoteGo } from "./quote.ts";

const rows: [text: string, quoted: string][] = [
  ["", '""'],
  ["plain text", '"plain text"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ["\t\n\x01\x7f", '"\\t\\n\\x01\\x7f"'],
  ["é😀", '"é😀"'],
  ["\u00a0\u2028\ufeff", '"\\u00a0\\u2028\\ufeff"'],
  ["\u{e0001}", '"\\U000e0001"'],
  ["\ud800", '"\ufffd"'],
];

for (const [text, quoted] of rows)
  test(`quotes ${JSON.stringify(text)}`, () => {
    assert.equal(quoteGo(text), quoted);
  });

test("quotes each character of random texts", () => {
  const random = seededRandom(seed);
  for (let times = 0; times < 2000; times++) {
    const codes = Array.from({ length: random(20) }, () =>
      random([0x80, 0x3000, 0x10000, 0x110000][random(4)] as number),
    );
    const text = String.fromCodePoint(...codes);
    const expected = `"${Array.from(text.toWellFormed(), escapeGo).join("")}"`;
    assert.equal(quoteGo(text), expected, `SEED=${seed} ${JSON.stringify(text)}`);
  }
});
