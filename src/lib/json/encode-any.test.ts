import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeAny } from "./encode-any.ts";

const rows: readonly [value: unknown, text: string][] = [
  [null, "null"],
  [undefined, "null"],
  [-0, "0"],
  [1e21, "1e+21"],
  [Number.NaN, "null"],
  [2n ** 63n, "9223372036854775808"],
  ['<&>"\\\n\u2028', '"\\u003c\\u0026\\u003e\\"\\\\\\n\\u2028"'],
  ["\u0001\b\f\u007f", '"\\u0001\\b\\f\u007f"'],
  ["a\ud800b", '"a\ufffdb"'],
  ["\\ud800", '"\\\\ud800"'],
  ["\u{1f600}", '"\u{1f600}"'],
  [[], "[]"],
  [{}, "{}"],
  [{ a: undefined, b: [undefined, null], "<": "é" }, '{"b":[null,null],"\\u003c":"é"}'],
  [{ b: 1, a: { c: [true, "x", { d: -1.5 }] } }, '{"b":1,"a":{"c":[true,"x",{"d":-1.5}]}}'],
  [{ a: [2n ** 53n + 1n, "<"] }, '{"a":[9007199254740993,"\\u003c"]}'],
  [{ "a\udc00": ["\ud83d", "<\u2029"] }, '{"a\ufffd":["\ufffd","\\u003c\\u2029"]}'],
  [JSON.parse('{"__proto__":{"constructor":1}}'), '{"__proto__":{"constructor":1}}'],
];

for (const [value, text] of rows) {
  test(`encodes ${text}`, () => assert.equal(encodeAny(value), text));
}
