import assert from "node:assert/strict";
import { test } from "node:test";
import { clampedInteger } from "./integer.ts";
import { trimEndOf, trimOf, trimStartOf } from "./trim.ts";

const trimmed: [text: string, characters: string, start: string, end: string, both: string][] = [
  ["", "/", "", "", ""],
  ["//", "/", "", "", ""],
  ["/a/b//", "/", "a/b//", "/a/b", "a/b"],
  ["a", "/", "a", "a", "a"],
  [" \ta \t", " \t", "a \t", " \ta", "a"],
  ["0010.0200", "0", "10.0200", "0010.02", "10.02"],
];

for (const [text, characters, start, end, both] of trimmed)
  test(`trims ${JSON.stringify(characters)} from ${JSON.stringify(text)}`, () => {
    assert.deepEqual(
      [trimStartOf(text, characters), trimEndOf(text, characters), trimOf(text, characters)],
      [start, end, both],
    );
  });

const integers: [text: string, value: bigint][] = [
  ["0", 0n],
  ["-0", 0n],
  ["+7", 7n],
  ["000000000000000000000000000012", 12n],
  ["18446744073709551615", 2n ** 64n - 1n],
  ["-9223372036854775808", -(2n ** 63n)],
  ["100000000000000000000", 2n ** 64n],
  [`-${"9".repeat(1_000_000)}`, -(2n ** 64n)],
];

for (const [text, value] of integers)
  test(`reads ${text.slice(0, 40)} as ${value}`, () => assert.equal(clampedInteger(text), value));
