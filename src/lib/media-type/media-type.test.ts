import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAccept } from "./accept.ts";
import { parseMediaType } from "./media-type.ts";

/** What Go's mime.ParseMediaType makes of it. */
const rows: [header: string, want: string | undefined][] = [
  ["application/json", "application/json"],
  [" Application/JSON ; charset=utf-8", "application/json"],
  ['application/json; charset="a;\\"b" ; x=y', "application/json"],
  ["application/json;", "application/json"],
  ["application/json; a=b; ", "application/json"],
  ["application/json;;", undefined],
  ["application/json; charset", undefined],
  ["application/json; charset=", undefined],
  ["application/json; =utf-8", undefined],
  ["application/json; a=b; A=c", undefined],
  ["application/json; a=b c", undefined],
  ['application/json; a="b', undefined],
  ["application/json,application/yaml", undefined],
  ["application / json", undefined],
  ["application/", undefined],
  ["json", "json"],
  ["a/b/c", undefined],
  [";charset=utf-8", undefined],
];

for (const [header, want] of rows) test(JSON.stringify(header), () => assert.equal(parseMediaType(header), want));

test("reads 32 parameters of a clause of Accept", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `p${index}`);
  const [clause] = parseAccept(`a/b;${names.map((name) => `${name}=1`).join(";")}`);
  assert.deepEqual([...(clause?.parameters.keys() ?? [])], names.slice(0, 32));
});
