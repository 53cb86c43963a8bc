import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { memberBytes } from "./member.ts";

const label = Buffer.from('"metadata":');

const rows: [what: string, json: string, want: string | undefined][] = [
  ["alone", '{"metadata":{}}', "{}"],
  ["nested", '{"metadata":{"a":{"b":{}},"c":1},"spec":{}}', '{"a":{"b":{}},"c":1}'],
  [
    "braces and quotes in texts",
    String.raw`{"metadata":{"a":"}\"}","b":"\\"},"spec":{}}`,
    String.raw`{"a":"}\"}","b":"\\"}`,
  ],
  ["another member named so, later", '{"metadata":{"name":"é{"},"spec":{"metadata":{"x":1}}}', '{"name":"é{"}'],
  [
    "another member named so, earlier and deeper",
    '{"data":{"metadata":{"x":1}},"list":[{"metadata":{}}],"metadata":{"name":"n"}}',
    '{"name":"n"}',
  ],
  ["a text that is named so", '{"a":"metadata","metadata":{"b":"\\"metadata\\":{}"}}', '{"b":"\\"metadata\\":{}"}'],
  ["an array", '{"a":1,"metadata":[{"b":[1,{}]},2]}', '[{"b":[1,{}]},2]'],
  ["none", '{"a":{"metadata":{}}}', undefined],
];

for (const [what, json, want] of rows)
  test(what, () => assert.equal(memberBytes(Buffer.from(json), label)?.toString(), want));

test("strings of any length, with anything in them", () => {
  const parts = ['"', "\\", "a", "é", "{", "}", '"metadata":{', "\n", "x".repeat(46), "y".repeat(200)];
  const random = seededRandom(1);
  for (let round = 0; round < 3000; round++) {
    const text = (): string => Array.from({ length: random(8) }, () => parts[random(parts.length)]).join("");
    const metadata = { [text()]: text(), b: [text(), { c: text() }] };
    const json = Buffer.from(
      JSON.stringify({ [`k${text()}`]: text(), before: { metadata: text() }, metadata, after: text() }),
    );
    assert.equal(memberBytes(json, label)?.toString(), JSON.stringify(metadata), json.toString());
  }
});
