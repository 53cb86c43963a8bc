import assert from "node:assert/strict";
import { test } from "node:test";
import { textMatcher } from "./match.ts";

const rows: [pattern: string, text: string, matches: boolean][] = [
  ["", "", true],
  ["", "a", false],
  ["abc", "abc", true],
  ["abc", "abcd", false],
  ["*", "", true],
  ["*", "anything", true],
  ["a*", "abc", true],
  ["a*", "ba", false],
  ["*c", "abc", true],
  ["a*c", "ac", true],
  ["a*a", "a", false],
  ["ab*ba", "aba", false],
  ["a*b*c", "a-b-c", true],
  ["a*b*c", "a-c-b", false],
  ["*b*", "abc", true],
  ["**", "x", true],
  ["a.c", "abc", false],
  ["(a+)+*", "(a+)+x", true],
];
for (const [pattern, text, matches] of rows) {
  test(`${JSON.stringify(pattern)} ${matches ? "matches" : "does not match"} ${JSON.stringify(text)}`, () => {
    assert.equal(textMatcher(pattern)(text), matches);
  });
}

test("a pattern with many asterisks takes no exponential time", () => {
  const pattern = `${"a*".repeat(400)}b`;
  assert.equal(textMatcher(pattern)("a".repeat(10_000)), false);
});
