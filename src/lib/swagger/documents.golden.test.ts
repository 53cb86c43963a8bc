/** Compares canonical and converted documents with those of k8s.io/kube-openapi. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encodeAny } from "../json/encode-any.ts";
import type { Json } from "../json/values.ts";
import { convertToV3 } from "./convert-to-v3.ts";
import { documentShape } from "./document-shape.ts";
import { normalize, SwaggerError } from "./normalize.ts";

interface Row {
  readonly document: unknown;
  readonly canonical?: Json;
  /** Missing for documents with which upstream's conversion panics. */
  readonly converted?: Json;
  readonly rejected?: true;
}

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/documents.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

for (const { document, canonical, converted, rejected } of rows) {
  test(`the canonical form of ${encodeAny(document).slice(0, 100)}`, () => {
    if (rejected) return assert.throws(() => normalize(document, documentShape), SwaggerError);
    // Go encodes missing paths as null.
    const { paths, ...others } = canonical as Json;
    const expected = paths === null ? others : canonical;
    const found = normalize(document, documentShape) as Json;
    assert.equal(encodeAny(found), encodeAny(expected));
    if (converted !== undefined) assert.equal(encodeAny(convertToV3(found)), encodeAny(converted));
  });
}
