import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEncoded, parseJson, peekTypeMeta } from "./parse.ts";

/** The error messages are those of Go. */
const syntaxRows: [text: string, message: string][] = [
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ['{"a"', "unexpected end of JSON input"],
  ['{"a":', "unexpected end of JSON input"],
  ['{"a":1,', "unexpected end of JSON input"],
  ['"a', "unexpected end of JSON input"],
  ["[1", "unexpected end of JSON input"],
  ["-", "invalid character ' ' in numeric literal"],
  ["1.", "invalid character ' ' after decimal point in numeric literal"],
  ["1e+", "invalid character ' ' in exponent of numeric literal"],
  ["tru", "invalid character ' ' in literal true (expecting 'e')"],
  ["nulx", "invalid character 'x' in literal null (expecting 'l')"],
  ['"\\', "invalid character ' ' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['"\u0001"', "invalid character '\\x01' in string literal"],
  ["01", "invalid character '1' after top-level value"],
  ['{"a":1}x', "invalid character 'x' after top-level value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ["{a}", "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
  ["[1 2]", "invalid character '2' after array element"],
  ["[1,]", "invalid character ']' looking for beginning of value"],
  ["'", "invalid character '\\'' looking for beginning of value"],
  ["é", "invalid character 'Ã' looking for beginning of value"],
  ["1".repeat(400), `json: cannot unmarshal number ${"1".repeat(400)} into Go value of type float64`],
  ["[".repeat(10_001), "invalid character '[' exceeded max depth"],
];

for (const [text, message] of syntaxRows) {
  test(`rejects ${JSON.stringify(text.slice(0, 20))}`, () => {
    assert.throws(() => parseJson(Buffer.from(text)), { name: "JsonSyntaxError", message });
  });
}

const valueRows: [text: string, value: unknown, duplicates: string[]][] = [
  ["null", null, []],
  [' {"a":[1,-2,0.5,1e3,true,""]} ', { a: [1, -2, 0.5, 1000, true, ""] }, []],
  ["9007199254740993", 9007199254740993n, []],
  ["1".repeat(200), Number("1".repeat(200)), []],
  ["-9223372036854775808", -9223372036854775808n, []],
  ["123456789012345", 123456789012345, []],
  ['"\\ud800x\\ud83d\\ude00"', "\ufffdx\u{1f600}", []],
  ['{"a":1,"a":2}', { a: 2 }, ['duplicate field "a"']],
  [
    '{"b":{"c":1,"c":{"d":1,"d":1}},"x":[{"y":1,"y":2}]}',
    { b: { c: { d: 1 } }, x: [{ y: 2 }] },
    ["b.c", "b.c.d", "x[0].y"].map(duplicate),
  ],
  ['{"é\\"":1,"\\u00e9\\"":2}', { 'é"': 2 }, ['duplicate field "é\\""']],
  ['{"a":{"a":1},"a":{"a":2}}', { a: { a: 2 } }, ['duplicate field "a"']],
];

function duplicate(path: string): string {
  return `duplicate field "${path}"`;
}

for (const [text, value, duplicates] of valueRows) {
  test(`parses ${text}`, () => {
    const parsed = parseJson(Buffer.from(text));
    assert.deepEqual([parsed.value, parsed.duplicates], [value, duplicates]);
  });
}

test("treats __proto__ and constructor as ordinary members", () => {
  for (const text of ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":0,"constructor":2,"__proto__":{"x":1}}']) {
    const value = parseJson(Buffer.from(text)).value as object;
    assert.deepEqual(Object.entries(value), [
      ["__proto__", { x: 1 }],
      ["constructor", 2],
    ]);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  }
});

test("replaces each byte that is not UTF-8", () => {
  const bytes = Buffer.from([0x22, 0xff, 0xe2, 0x82, 0x61, 0xed, 0xa0, 0x80, 0x22]);
  assert.equal(parseJson(bytes).value, "\ufffd\ufffd\ufffda\ufffd\ufffd\ufffd");
});

test("parses ten thousand levels and finds repeated keys at the lowest one", () => {
  const text = `${'{"a":'.repeat(9_999)}{"x":1,"x":2}${"}".repeat(9_999)}`;
  assert.equal(parseJson(Buffer.from(text)).duplicates.length, 1);
});

const typeMetaRows: [text: string, expected: { apiVersion: string; kind: string } | string][] = [
  ['{"apiVersion":"v1","kind":"ConfigMap"}', { apiVersion: "v1", kind: "ConfigMap" }],
  ['{"APIVERSION":"v1","Kind":"x"}', { apiVersion: "v1", kind: "x" }],
  ['{"kind":null}', { apiVersion: "", kind: "" }],
  ["null", { apiVersion: "", kind: "" }],
  ["", "unexpected end of JSON input"],
  ['{"apiVersion":"v1"}x', "invalid character 'x' after top-level value"],
  ['{"kind":5}', "json: cannot unmarshal number into Go struct field .kind of type string"],
  [
    '"x"',
    'json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  ],
];

for (const [text, expected] of typeMetaRows) {
  test(`reads apiVersion and kind of ${text}`, () => {
    if (typeof expected === "string")
      assert.throws(() => peekTypeMeta(Buffer.from(text)), {
        message: `couldn't get version/kind; json parse error: ${expected}`,
      });
    else {
      const { apiVersion, kind } = peekTypeMeta(Buffer.from(text));
      assert.deepEqual({ apiVersion, kind }, expected);
    }
  });
}

const encodedRows: [text: string, expected: unknown][] = [
  ['{"a":9007199254740993,"b":[1.5,-9007199254740993]}', { a: 9007199254740993n, b: [1.5, -9007199254740993n] }],
  ['{"a":"1234567890123456789"}', { a: "1234567890123456789" }],
  ['{"a":",1234567890123456789"}', { a: ",1234567890123456789" }],
];
for (const [text, expected] of encodedRows) {
  test(`parses encoded JSON: ${text}`, () => assert.deepEqual(parseEncoded(Buffer.from(text)), expected));
}

test("rejects damaged encoded JSON with Go's message", () => {
  const message = "invalid character '\"' after object key:value pair";
  assert.throws(() => parseEncoded(Buffer.from('{"a":1 "b"}')), { name: "JsonSyntaxError", message });
});
