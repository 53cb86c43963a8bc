/** Texts of every format, and whether upstream takes them. tools/golden/custom-resources makes the answers (`go run . < formats.jsonl`). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findFormat } from "./formats.ts";

interface Row {
  readonly format: string;
  readonly text: string;
  readonly want: boolean;
}

const rows = readFileSync(new URL("testdata/formats.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

for (const { format, text, want } of rows) {
  test(`${format}: ${JSON.stringify(text)} ${want ? "is one" : "is none"}`, () => {
    assert.equal(findFormat(format)?.(text) ?? false, want);
  });
}
