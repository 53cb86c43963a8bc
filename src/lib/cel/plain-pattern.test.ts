/** Plain patterns match like RE2, and exclude every pattern that could backtrack. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RE2JS } from "re2js";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { plainPart, plainPattern } from "./values/plain-pattern.ts";

const rows: [pattern: string, isPlain: boolean][] = [
  ["^[a-z][a-z0-9-]*$", true],
  ["^[0-9]+\\.[0-9]+$", true],
  ["^a{2,3}b?c+$", true],
  ["^[A-Za-z_]{1,63}", true],
  ["^$", true],
  ["^", true],
  ["[a-z]+$", false],
  ["^a*a$", false],
  ["^[a-z]*-?[a-f]$", false],
  ["^(a+)+$", false],
  ["^a|b$", false],
  ["^.*$", false],
  ["^[^a]$", false],
  ["^\\d+$", false],
  ["^a+?$", false],
  ["^a**", false],
  ["^a{3,2}", false],
  ["^a{1001}", false],
  ["^[z-a]$", false],
  ["^[[:alpha:]]$", false],
  ["^a$b", false],
  ["^é$", false],
];

for (const [pattern, isPlain] of rows) {
  test(`${isPlain ? "accepts" : "does not accept"} the pattern ${pattern}`, () =>
    assert.equal(plainPattern(pattern) !== undefined, isPlain));
}

const pieces = [
  "[a-c]",
  "[b-d-]",
  "[0-9]",
  "a",
  "b",
  "-",
  "\\.",
  "[a.]",
  "*",
  "+",
  "?",
  "{2}",
  "{1,2}",
  "{0,1}",
  "{1,}",
  "$",
];
const characters = ["a", "b", "c", "d", "-", ".", "1", "\n", "é", "\u{1f600}", "\u2028"];

test("plain patterns match what RE2 matches", () => {
  const random = seededRandom(seed);
  const pick = (from: readonly string[], max: number): string =>
    Array.from({ length: random(max + 1) }, () => from[random(from.length)]).join("");
  let plain = 0;
  for (let at = 0; at < 5000; at++) {
    const pattern = `^${pick(pieces, 6)}`;
    const compiled = plainPattern(pattern);
    if (compiled === undefined) continue;
    plain++;
    const regex = RE2JS.compile(pattern);
    for (let times = 0; times < 5; times++) {
      const text = pick(characters, 6);
      assert.equal(compiled.test(text), regex.matcher(text).find(), `SEED=${seed} ${pattern} ${JSON.stringify(text)}`);
    }
  }
  assert.ok(plain > 500);
});

const partRows: [pattern: string, isPart: boolean][] = [
  ["a", true],
  ["[a-z0-9]+", true],
  ["\\$", true],
  ["\\++", true],
  ["", false],
  ["a*", false],
  ["a+?", false],
  ["a{2}", false],
  ["ab", false],
  ["a$", false],
  ["^a", false],
  [".", false],
  ["[^a]", false],
  ["(a)", false],
  ["[z-a]", false],
];

for (const [pattern, isPart] of partRows)
  test(`${isPart ? "finds" : "does not find"} all matches of ${JSON.stringify(pattern)} as a plain part`, () =>
    assert.equal(plainPart(pattern) !== undefined, isPart));

test("plain parts find what RE2 finds", () => {
  const random = seededRandom(seed);
  for (const pattern of pieces.flatMap((piece) => [piece, `${piece}+`])) {
    const part = plainPart(pattern);
    if (part === undefined) continue;
    for (let times = 0; times < 50; times++) {
      const text = Array.from({ length: random(20) }, () => characters[random(characters.length)]).join("");
      const matcher = RE2JS.compile(pattern).matcher(text);
      const expected: (string | null)[] = [];
      while (matcher.find()) expected.push(matcher.group());
      assert.deepEqual(text.match(part) ?? [], expected, `SEED=${seed} ${pattern} ${JSON.stringify(text)}`);
    }
  }
});
