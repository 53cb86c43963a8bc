/** Random texts and values with upstream's diffs, as recorded by tools/golden/text-diff. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { jsonDiff, unifiedDiff } from "./unified-diff.ts";

interface Row {
  readonly kind: "lines" | "json";
  readonly Before: string[];
  readonly After: string[];
  readonly Diff: string;
}

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/diffs.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test(`${rows.length} diffs`, () => {
  for (const [index, { kind, Before, After, Diff }] of rows.entries()) {
    assert.equal((kind === "lines" ? unifiedDiff : jsonDiff)(Before, After), Diff, `row ${index}`);
  }
});

test("shows texts whole that would take too long to compare", () => {
  const same = Array.from({ length: 40_000 }, (_none, index) => String(index % 120));
  const diff = unifiedDiff(same, [...same, "x"]);
  assert.equal(diff.split("\n").length, 1 + 40_000 + 40_001 + 1);
});
