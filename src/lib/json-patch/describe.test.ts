/** The texts of the same patches that the golden file holds: the order of members in it is upstream's. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { encodeAny } from "../json/encode-any.ts";
import { encodeMerged, encodeOpened } from "./describe.ts";
import { applyJsonPatch, type JsonPatchOperation } from "./json-patch.ts";

const lines = gunzipSync(readFileSync(new URL("testdata/golden.jsonl.gz", import.meta.url)))
  .toString()
  .trim()
  .split("\n");

test("a patched document is told with upstream's order of members", () => {
  for (const line of lines) {
    const { kind, doc, patch, error } = JSON.parse(line);
    if (error !== true)
      assert.equal(describe(kind, doc, patch), line.slice(line.lastIndexOf(',"want":') + ',"want":'.length, -1), line);
  }
});

function describe(kind: string, doc: unknown, patch: unknown): string {
  if (kind === "merge") return encodeMerged(doc, patch, encodeAny);
  const opened = new Set<object>();
  return encodeOpened(applyJsonPatch(doc, patch as JsonPatchOperation[], opened), opened);
}

const rows: readonly (readonly [what: string, doc: string, patch: string, want: string])[] = [
  [
    "what is copied is sorted where it was looked into before",
    '{"a":{"z":1,"y":{"q":1,"p":2}}}',
    '[{"op":"add","path":"/a/x","value":1},{"op":"copy","from":"/a","path":"/b"}]',
    '{"a":{"x":1,"y":{"q":1,"p":2},"z":1},"b":{"x":1,"y":{"q":1,"p":2},"z":1}}',
  ],
  [
    "what a test has passed is sorted",
    '{"a":{"z":[{"c":1,"b":2}]}}',
    '[{"op":"test","path":"/a","value":{"z":[{"b":2,"c":1}]}}]',
    '{"a":{"z":[{"b":2,"c":1}]}}',
  ],
  [
    "lists that take an object's place stand as they were sent",
    '{"b":{"a":1},"a":1}',
    '{"b":[{"z":1,"y":null}]}',
    '{"a":1,"b":[{"z":1,"y":null}]}',
  ],
  [
    "lists that take no object's place are sorted",
    '{"b":1,"a":{"d":1,"c":2}}',
    '{"b":[{"z":1,"y":2,"x":null}]}',
    '{"a":{"d":1,"c":2},"b":[{"y":2,"z":1}]}',
  ],
  ["__proto__", '{"a":1}', '{"__proto__":{"b":"<"}}', '{"__proto__":{"b":"\\u003c"},"a":1}'],
];

for (const [what, doc, patch, want] of rows) {
  test(what, () =>
    assert.equal(describe(patch.startsWith("[") ? "json" : "merge", JSON.parse(doc), JSON.parse(patch)), want),
  );
}
