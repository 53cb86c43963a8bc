import assert from "node:assert/strict";
import { test } from "node:test";
import { goQuote } from "./quote.ts";

const rows: [text: string, want: string][] = [
  ["plain é text", '"plain é text"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ["\n\t\x00\x7f", '"\\n\\t\\x00\\x7f"'],
  ["\u00a0\u200b", '"\\u00a0\\u200b"'],
  ["\u{1f600}", '"\u{1f600}"'],
];

for (const [text, want] of rows) {
  test(`quotes ${JSON.stringify(text)}`, () => assert.equal(goQuote(text), want));
}
