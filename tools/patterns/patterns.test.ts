// own process: records the patterns that modules build when they are loaded
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { analyze, safe } from "./analyze.ts";
import { patternsIn, productPatterns } from "./source-patterns.ts";

const sample = [
  "#!/usr/bin/env node",
  "const first = /a+$/g;",
  "// Bounded: one line.",
  "const second = /b+$/;",
  "/** What it matches. Bounded: two lines. */",
  "const third =",
  "  /c+$/;",
  "const quotient = first / second / third;",
  "const text = '/d+$/';",
  'const built = new RegExp("^" + text);',
  "// Bounded: three lines.",
  "const other = new RegExp(text);",
].join("\n");

test("finds the patterns of a source, with the bounds of their input", () => {
  assert.deepEqual(patternsIn(sample, "sample.ts"), {
    literals: [
      { place: "sample.ts:2", source: "a+$", flags: "g", bound: undefined },
      { place: "sample.ts:4", source: "b+$", flags: "", bound: "one line." },
      { place: "sample.ts:7", source: "c+$", flags: "", bound: "two lines. */" },
    ],
    built: [
      { file: "sample.ts", line: 10, bound: undefined },
      { file: "sample.ts", line: 12, bound: "three lines." },
    ],
  });
});

const verdicts: [source: string, flags: string, verdict: string][] = [
  ["^0+", "", safe],
  ["0+$", "g", "2nd degree polynomial"],
  ["0+$", "y", safe],
  ["^(a+)+$", "", "exponential"],
  ["^a", "my", "unknown: sticky and multiline"],
];

for (const [source, flags, verdict] of verdicts)
  test(`the verdict on /${source}/${flags} is ${verdict}`, () => {
    assert.equal(analyze(source, flags, 20_000), verdict);
  });

test("each pattern of the product is linear, or its input is bounded", async () => {
  const known = JSON.parse(readFileSync(join(import.meta.dirname, "verdicts.json"), "utf8")) as Record<string, string>;
  const { patterns, unknown } = await productPatterns(join(import.meta.dirname, "../.."));
  assert.deepEqual(unknown, []);
  const slow = patterns.filter(
    ({ source, flags, bound }) => bound === undefined && known[`/${source}/${flags}`] !== safe,
  );
  assert.deepEqual(slow, []);
});
