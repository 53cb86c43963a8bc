/**
 * Compares encoded results with those of json-patch v4, whose order of members the golden file has.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { encodeAny } from "../json/encode-any.ts";
import { parseExact } from "../json/exact.ts";
import { encodeMerged, encodePatched, patchNotes } from "./encode-patched.ts";
import { applyJsonPatch, copiedBytesMax, type JsonPatchOperation } from "./json-patch.ts";

const lines = gunzipSync(readFileSync(new URL("testdata/golden.jsonl.gz", import.meta.url)))
  .toString()
  .trim()
  .split("\n");

test("encodes patched documents with the member order of json-patch v4", () => {
  for (const line of lines) {
    const { kind, doc, patch, error } = JSON.parse(line);
    if (error !== true)
      assert.equal(encode(kind, doc, patch), line.slice(line.lastIndexOf(',"want":') + ',"want":'.length, -1), line);
  }
});

function encode(kind: string, doc: unknown, patch: unknown): string {
  if (kind === "merge") return encodeMerged(doc, patch, encodeAny);
  const notes = patchNotes();
  return encodePatched(applyJsonPatch(doc, patch as JsonPatchOperation[], notes), notes);
}

const rows: readonly (readonly [title: string, doc: string, patch: string, expected: string])[] = [
  [
    "sorts a copied object that the patch opened before",
    '{"a":{"z":1,"y":{"q":1,"p":2}}}',
    '[{"op":"add","path":"/a/x","value":1},{"op":"copy","from":"/a","path":"/b"}]',
    '{"a":{"x":1,"y":{"q":1,"p":2},"z":1},"b":{"x":1,"y":{"q":1,"p":2},"z":1}}',
  ],
  [
    "sorts a value after a passed test",
    '{"a":{"z":[{"c":1,"b":2}]}}',
    '[{"op":"test","path":"/a","value":{"z":[{"b":2,"c":1}]}}]',
    '{"a":{"z":[{"b":2,"c":1}]}}',
  ],
  [
    "keeps the order of a list that replaces an object",
    '{"b":{"a":1},"a":1}',
    '{"b":[{"z":1,"y":null}]}',
    '{"a":1,"b":[{"z":1,"y":null}]}',
  ],
  [
    "sorts a list that does not replace an object",
    '{"b":1,"a":{"d":1,"c":2}}',
    '{"b":[{"z":1,"y":2,"x":null}]}',
    '{"a":{"d":1,"c":2},"b":[{"y":2,"z":1}]}',
  ],
  [
    "treats __proto__ as an ordinary member",
    '{"a":1}',
    '{"__proto__":{"b":"<"}}',
    '{"__proto__":{"b":"\\u003c"},"a":1}',
  ],
];

for (const [title, doc, patch, expected] of rows) {
  test(title, () =>
    assert.equal(encode(patch.startsWith("[") ? "json" : "merge", JSON.parse(doc), JSON.parse(patch)), expected),
  );
}

test("repeated members count when they are copied, and are written until their object is opened", () => {
  const { value: patch, repeated } = parseExact(
    Buffer.from('[{"op":"add","path":"/a","value":{"x":["aaaaaaaaaa"],"x":1}},{"op":"copy","from":"/a","path":"/b"}]'),
  );
  const notes = patchNotes(repeated);
  const operations = patch as JsonPatchOperation[];
  assert.equal(
    encodePatched(applyJsonPatch({}, operations, notes), notes),
    '{"a":{"x":["aaaaaaaaaa"],"x":1},"b":{"x":["aaaaaaaaaa"],"x":1}}',
  );
  const opens: JsonPatchOperation = { op: "add", path: "/b/y", value: 2 };
  const opened = patchNotes(repeated);
  assert.equal(
    encodePatched(applyJsonPatch({}, [...operations, opens], opened), opened),
    '{"a":{"x":["aaaaaaaaaa"],"x":1},"b":{"x":1,"y":2}}',
  );
  const [add, copy] = operations as [JsonPatchOperation, JsonPatchOperation];
  const many = [add, ...Array<JsonPatchOperation>(copiedBytesMax / 24).fill(copy)];
  assert.throws(() => applyJsonPatch({}, many, patchNotes(repeated)), /accumulated size/);
  applyJsonPatch({}, many);
});
