/**
 * Texts of every format, and whether upstream accepts them, as recorded by
 * `npm run golden custom-resources`.
 */
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
  test(`${format}: ${JSON.stringify(text)} ${want ? "is accepted" : "is rejected"}`, () => {
    assert.equal(findFormat(format)?.(text) ?? false, want);
  });
}
