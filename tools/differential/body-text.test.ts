/** Bodies with values that JavaScript does not have. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBody, isOnlyText, raw, repeatedMembers } from "./body-text.ts";

const rows: [body: unknown, text: string, isText: boolean][] = [
  [{ a: [1, "b", null], c: undefined }, '{"a":[1,"b",null]}', false],
  [{ a: raw("1e400") }, '{"a":1e400}', true],
  [{ a: [{ b: raw("01") }] }, '{"a":[{"b":01}]}', true],
  [
    repeatedMembers([
      ["a", 1],
      ["a", { b: 2 }],
    ]),
    '{"a":1,"a":{"b":2}}',
    true,
  ],
  [{ $members: [["a", 1], { $patch: "delete" }] }, '{"a":1}', true],
  ["{", "{", true],
];

for (const [body, text, isText] of rows)
  test(`writes ${text}`, () => assert.deepEqual([formatBody(body), isOnlyText(body)], [text, isText]));
