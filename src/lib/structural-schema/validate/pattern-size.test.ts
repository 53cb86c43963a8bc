import assert from "node:assert/strict";
import { test } from "node:test";
import { patternSize } from "./pattern-size.ts";
import { compilePattern, patternError } from "./value-schema.ts";

const sizes: [pattern: string, least: number, most: number][] = [
  ["", 0, 0],
  ["abc", 3, 3],
  ["^[a-z]{1,253}$", 253, 260],
  ["(a{30}){30}", 900, 1000],
  ["(?:a{10}b){10}c", 110, 160],
  ["[]a{9}]", 1, 3],
  ["[[:alpha:]{9}]x{3}", 3, 6],
  ["a{,5}", 5, 6],
  ["\\{5}", 1, 4],
  ["((", 2, 6],
];
for (const [pattern, least, most] of sizes) {
  test(`the size of ${pattern}`, () => {
    const size = patternSize(pattern);
    assert.ok(size >= least && size <= most, `${size}`);
  });
}

const tooLarge = "error parsing regexp: expression too large";
const bombs: [what: string, pattern: string][] = [
  ["nested repetitions", "(?:a{30}){30}".repeat(1000)],
  ["a long text", "a".repeat(1_000_000)],
  ["many alternatives", Array.from({ length: 100_000 }, (_, at) => `v${at}`).join("|")],
];
for (const [what, pattern] of bombs) {
  test(`rejects a pattern with ${what} as too large`, () => {
    assert.equal(compilePattern(pattern).error, tooLarge);
    assert.equal(patternError(pattern), tooLarge);
  });
}

test("text that would take too long to match does not match", () => {
  const { matches } = compilePattern("^((x?){30}){30}$");
  assert.ok(matches?.("x".repeat(500)));
  assert.equal(matches?.("x".repeat(1_000_000)), false);
});
