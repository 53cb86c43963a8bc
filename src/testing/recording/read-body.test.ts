/** What a recording contains of JSON bodies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { recordedBody } from "./read-body.ts";
import { newSecrets } from "./secrets.ts";
import { readTarget } from "./target.ts";

const unknown = '{"omitted":"it cannot be decoded"}';
const rows: [title: string, sent: string | Buffer, recorded: string][] = [
  ["an integer beyond doubles", '{"a":9223372036854775807}', '{"json":{"a":9223372036854775807}}'],
  ["a fraction", '{"a":-0.5}', '{"json":{"a":-0.5}}'],
  ["another form of a number", '{"a":1.0,"b":1e2}', '{"json":{"a":1,"b":100}}'],
  ["a number beyond doubles", '{"a":1e400}', unknown],
  ["a surrogate without its other half", '{"a":"\\ud83d"}', '{"json":{"a":"\ufffd"}}'],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), '{"json":"\ufffd"}'],
  ["a repeated member", '{"a":1,"a":2}', '{"json":{"a":2}}'],
  ["a deep value with a fraction", `${"[".repeat(1001)}0.5${"]".repeat(1001)}`, unknown],
];
for (const [title, sent, recorded] of rows) {
  test(title, () => {
    const secrets = newSecrets();
    const target = readTarget("/apis/example.com/v1/namespaces/a/things", secrets);
    const body = { bytes: Buffer.from(sent), contentType: "application/json", contentEncoding: "" };
    const options = { secrets, confidential: undefined, keepsLastApplied: false };
    assert.equal(encodeAny(recordedBody(body, target, options)), recorded);
  });
}
