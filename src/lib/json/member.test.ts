import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { memberBytes } from "./member.ts";

const label = Buffer.from('"metadata":');

const rows: [title: string, json: string, expected: string | undefined][] = [
  ["the only member", '{"metadata":{}}', "{}"],
  ["a nested value", '{"metadata":{"a":{"b":{}},"c":1},"spec":{}}', '{"a":{"b":{}},"c":1}'],
  [
    "braces and quotes in strings",
    String.raw`{"metadata":{"a":"}\"}","b":"\\"},"spec":{}}`,
    String.raw`{"a":"}\"}","b":"\\"}`,
  ],
  [
    "a deeper member of the same name after it",
    '{"metadata":{"name":"é{"},"spec":{"metadata":{"x":1}}}',
    '{"name":"é{"}',
  ],
  [
    "a deeper member of the same name before it",
    '{"data":{"metadata":{"x":1}},"list":[{"metadata":{}}],"metadata":{"name":"n"}}',
    '{"name":"n"}',
  ],
  ["a string with the name", '{"a":"metadata","metadata":{"b":"\\"metadata\\":{}"}}', '{"b":"\\"metadata\\":{}"}'],
  ["an array", '{"a":1,"metadata":[{"b":[1,{}]},2]}', '[{"b":[1,{}]},2]'],
  ["a missing member", '{"a":{"metadata":{}}}', undefined],
];

for (const [title, json, expected] of rows)
  test(`finds ${title}`, () => assert.equal(memberBytes(Buffer.from(json), label)?.toString(), expected));

test("finds a member among random strings", () => {
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
