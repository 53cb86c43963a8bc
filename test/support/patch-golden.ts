/** Compares patches with the results of upstream's libraries. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

interface Row {
  readonly kind: string;
  readonly doc: unknown;
  readonly patch: unknown;
  readonly want?: unknown;
  /** Whether the patch is rejected. */
  readonly error?: boolean;
}

/** @param file gzipped, one row per line @param apply throws if the patch cannot be applied */
export function golden(file: URL, apply: (kind: string, doc: unknown, patch: unknown) => unknown): void {
  const text = gunzipSync(readFileSync(file));
  test("patches give the results of upstream's library", () => {
    for (const line of text.toString().trim().split("\n")) {
      const { kind, doc, patch, want, error } = JSON.parse(line) as Row;
      if (error === true) assert.throws(() => apply(kind, doc, patch), line);
      else assert.deepEqual(apply(kind, doc, patch), want, line);
    }
  });
}
