import assert from "node:assert/strict";
import { test } from "node:test";
import type { FieldValidation } from "../contract.ts";
import { checkStrictErrors, readApplyBody } from "./read-apply.ts";

const notYaml = "error decoding YAML: error converting YAML to JSON: yaml:";

/** A body, and its content or the error. */
const rows: readonly (readonly [body: string, want: object | string])[] = [
  ['{"apiVersion":"v1","data":{"a":"b"}}', { apiVersion: "v1", data: { a: "b" } }],
  [
    "apiVersion: v1\ndata: {a: yes, b: 1.5, c: 9007199254740993}\n",
    { apiVersion: "v1", data: { a: true, b: 1.5, c: 9007199254740993n } },
  ],
  ["null", {}],
  ["", {}],
  [
    "[1]",
    "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
  ],
  [
    "x",
    "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type map[string]interface {}",
  ],
  ["a: [", "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content"],
  // JSON that is not YAML.
  ['{"a":"b\\/c"}', `${notYaml} found unknown escape character`],
  ['{"a":"\\ud83d\\ude00"}', `${notYaml} found invalid Unicode character escape code`],
  ['{"a":"\x7f"}', `${notYaml} control characters are not allowed`],
  ['{"a":"\ufffe"}', `${notYaml} control characters are not allowed`],
  [`{"${"k".repeat(1030)}":1}`, `${notYaml} did not find expected ',' or '}'`],
  ['{"a"\n:1}', `${notYaml} line 1: did not find expected ',' or '}'`],
  // JSON that YAML reads differently.
  ['{"a":"b\u2028 c"}', { a: "b\u2028c" }],
  ['{"a":"b\u0085c"}', { a: "b c" }],
  ['{"a":1e400}', { a: "1e400" }],
];

test("rejects bytes that are not UTF-8", () => {
  const message = `${notYaml} invalid leading UTF-8 octet`;
  assert.throws(() => readApplyBody(Buffer.from('{"a":"\xff"}', "latin1")), { message });
});

test("parses the body of an apply as YAML", () => {
  for (const [body, want] of rows) {
    if (typeof want === "string") assert.throws(() => readApplyBody(Buffer.from(body)), { message: want }, body);
    else assert.deepEqual(readApplyBody(Buffer.from(body)).value, want, body);
  }
});

const strict =
  'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 2: key "a" already set in map';
const levels: readonly (readonly [FieldValidation, want: readonly string[] | string])[] = [
  ["Ignore", []],
  ["Warn", ['line 2: key "a" already set in map']],
  ["Strict", strict],
];

test("reports repeated keys according to the level of field validation", () => {
  const body = readApplyBody(Buffer.from("a: 1\na: 2\n"));
  for (const [level, want] of levels) {
    const warnings: string[] = [];
    const check = (): void => checkStrictErrors(body, level, warnings);
    if (typeof want === "string") assert.throws(check, { message: want });
    else {
      check();
      assert.deepEqual(warnings, want);
    }
  }
});
