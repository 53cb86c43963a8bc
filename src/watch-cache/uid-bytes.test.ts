import assert from "node:assert/strict";
import { test } from "node:test";
import { uidBytes } from "./uid-bytes.ts";

const uid = "6c84fb90-12c4-11e1-840d-7b25c5ee775a";
const other = "00000000-0000-4000-8000-000000000000";
const version = '"resourceVersion":"7",';
const owners = `"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"${other}"}],`;

const rows: readonly (readonly [layout: string, metadata: string, want: string])[] = [
  ["a built-in object", `"name":"a","uid":"${uid}",${version}"labels":{"uid":"${other}"},${owners.slice(0, -1)}`, uid],
  ["a built-in object without a uid", `"name":"a",${version}"labels":{"uid":"${other}"},${owners.slice(0, -1)}`, ""],
  ["a custom object", `"labels":{"uid":"${other}"},"name":"a",${owners}${version}"uid":"${uid}"`, uid],
  ["a custom object without a uid", `${version}"labels":{"uid":"${other}"},"name":"a",${owners.slice(0, -1)}`, ""],
  ["a custom object with a selfLink", `"name":"a",${version}"selfLink":"x","uid":"${uid}"`, uid],
  ["a label before the version", `"annotations":{"uid":"${other}"},${version}"uid":"${uid}"`, uid],
  ["a uid of another length", `"name":"a","uid":"short",${version}"generation":1`, "short"],
  [
    "a uid with quotes",
    `"name":"a","uid":"\\"12345678901234567890123456789012\\"",${version}"generation":1`,
    '"12345678901234567890123456789012"',
  ],
  [
    "a uid with a backslash",
    `"name":"a","uid":"12345678901234567890123456789012345\\\\",${version}"generation":1`,
    "12345678901234567890123456789012345\\",
  ],
  ["a uid of other characters", `"name":"a","uid":"ééé",${version}"generation":1`, "ééé"],
  ["an empty uid", `"name":"a","uid":"",${version}"generation":1`, ""],
];

for (const [layout, metadata, want] of rows) {
  test(`finds the uid of ${layout}`, () => {
    const json = Buffer.from(`{"kind":"K","apiVersion":"v1","metadata":{${metadata}},"uid":"${other}"}`);
    assert.equal(JSON.parse(json.toString()).metadata.uid ?? "", want, "the row is true");
    assert.equal(uidBytes({ json, versionOffset: json.indexOf('"resourceVersion"') }).toString(), want);
  });
}
