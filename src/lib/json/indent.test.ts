import assert from "node:assert/strict";
import { test } from "node:test";
import { indentJson, jsonIndenter } from "./indent.ts";

/** Escapes near the length at which another algorithm finds the end of a string. */
const long = Array.from({ length: 12 }, (_, index) =>
  ["\\", '"', 'x\\\\"', '"}'].map((end) => `${"x".repeat(26 + index)}${end}${"y".repeat(index % 3)}`),
).map((texts) => ({ texts, text: texts.join("") }));

for (const value of [
  {},
  [],
  1,
  "a",
  null,
  { a: {} },
  { a: [] },
  { a: [1, 2, { b: 'x"{,}:[' }], c: "\\" },
  [[[]]],
  { "é\\": "\n" },
  ...long,
]) {
  const compact = JSON.stringify(value);
  test(`indents ${compact}`, () =>
    assert.equal(indentJson(Buffer.from(compact)).toString(), JSON.stringify(value, null, 2)));
}

test("indents a text in pieces like the whole text", () => {
  const value = { a: [], b: [1, { c: {}, d: [[]] }, true], e: { f: "g" } };
  const tokens = JSON.stringify(value).match(/"[^"]*"|[\s\S]/g) ?? [];
  for (let at = 1; at < tokens.length; at++) {
    const indent = jsonIndenter();
    const text = [tokens.slice(0, at), tokens.slice(at)]
      .map((part) => indent(Buffer.from(part.join(""))).toString())
      .join("");
    assert.equal(text, JSON.stringify(value, null, 2));
  }
});
