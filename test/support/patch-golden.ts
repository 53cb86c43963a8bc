/** Holds patches against what upstream's libraries made of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

interface Row {
  readonly kind: string;
  readonly doc: unknown;
  readonly patch: unknown;
  readonly want?: unknown;
  /** Whether the patch is refused. */
  readonly error?: boolean;
}

/** @param file gzipped, a row a line @param apply throws when the patch does not fit the document */
export function golden(file: URL, apply: (kind: string, doc: unknown, patch: unknown) => unknown): void {
  const text = gunzipSync(readFileSync(file));
  test("patches make of documents what upstream's library makes of them", () => {
    for (const line of text.toString().trim().split("\n")) {
      const { kind, doc, patch, want, error } = JSON.parse(line) as Row;
      if (error === true) assert.throws(() => apply(kind, doc, patch), line);
      else assert.deepEqual(apply(kind, doc, patch), want, line);
    }
  });
}
