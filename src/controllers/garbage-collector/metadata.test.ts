import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../watch-cache/contract.ts";
import { type CollectedMeta, concernOf } from "./metadata.ts";

const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" };
const now = "2020-01-01T00:00:00Z";

const concern = (object: object): CollectedMeta | undefined =>
  concernOf({ json: Buffer.from(JSON.stringify(object)) } as Entry);

const rows: [what: string, object: object, expected: Partial<CollectedMeta> | undefined][] = [
  ["nothing", { kind: "A", metadata: { name: "a", uid: "1" } }, undefined],
  [
    "an owner",
    { kind: "A", metadata: { uid: "1", resourceVersion: "7", ownerReferences: [owner] } },
    { uid: "1", resourceVersion: "7", owners: [owner] },
  ],
  ["no owner in an empty list", { metadata: { uid: "1", ownerReferences: [] } }, undefined],
  [
    "a deletion with another finalizer",
    { metadata: { uid: "1", deletionTimestamp: now, finalizers: ["x/y"] } },
    undefined,
  ],
  [
    "a deletion in the foreground",
    { metadata: { deletionTimestamp: now, finalizers: ["foregroundDeletion"] } },
    { deleting: true },
  ],
  ["a deletion that orphans", { metadata: { deletionTimestamp: now, finalizers: ["orphan"] } }, { deleting: true }],
  ["a finalizer without a deletion", { metadata: { finalizers: ["orphan"] } }, undefined],
  [
    "the owner of a template",
    { metadata: { uid: "1" }, spec: { template: { metadata: { ownerReferences: [owner] } } } },
    undefined,
  ],
  [
    "nested metadata before the real one",
    { data: { metadata: { ownerReferences: [owner] } }, kind: "metadata", metadata: { uid: "2" } },
    undefined,
  ],
  [
    "braces, quotes and backslashes in text",
    { a: '"metadata":{\\"}', metadata: { annotations: { b: '}{"\\' }, ownerReferences: [owner] } },
    { owners: [owner] },
  ],
  [
    "text beyond Latin",
    { a: "日本 \u{1f600}", metadata: { annotations: { b: "é" }, ownerReferences: [{ ...owner, name: "ö" }] } },
    { owners: [{ ...owner, name: "ö" }] },
  ],
  [
    "keys of Object.prototype",
    {
      ["__proto__"]: { metadata: 1 },
      metadata: { uid: "1", labels: { ["__proto__"]: "x" }, ownerReferences: [owner] },
    },
    { uid: "1" },
  ],
];

for (const [what, object, expected] of rows) {
  test(`an object with ${what} is ${expected === undefined ? "not " : ""}in the graph`, () => {
    const meta = concern(object);
    if (expected === undefined) assert.equal(meta, undefined);
    else assert.deepEqual({ ...meta, ...expected }, meta);
  });
}
