import assert from "node:assert/strict";
import { test } from "node:test";
import { indentJson, jsonIndenter } from "./indent.ts";

/** Escapes around the length from which strings are looked through otherwise. */
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
  test(compact, () => assert.equal(indentJson(Buffer.from(compact)).toString(), JSON.stringify(value, null, 2)));
}

test("pieces that end anywhere between strings are indented as the whole", () => {
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
