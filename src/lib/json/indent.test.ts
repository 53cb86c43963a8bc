import assert from "node:assert/strict";
import { test } from "node:test";
import { indentJson } from "./indent.ts";

for (const value of [{}, [], 1, "a", null, { a: {} }, { a: [] }, { a: [1, 2, { b: 'x"{,}:[' }], c: "\\" }, [[[]]], { "é\\": "\n" }]) {
  const compact = JSON.stringify(value);
  test(compact, () => assert.equal(indentJson(Buffer.from(compact)).toString(), JSON.stringify(value, null, 2)));
}
