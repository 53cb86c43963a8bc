import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../apimachinery/object.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { decodeJson } from "../lib/schema/decode.ts";
import { encodeObject } from "../lib/schema/encode.ts";
import type { Seal } from "../storage/contract.ts";
import { type EntrySource, entryFromStored } from "./entry.ts";

const schema = builtinSchema("io.k8s.api.core.v1.ConfigMap");
const source: EntrySource = {
  prefix: "/registry/configmaps/",
  fingerprint: 7,
  schema,
  decode: (value) => ({ object: decodeJson(value, schema).object as KubeObject, schema }),
  selectableFields: {},
  indexedFields: [],
};
const metadata = { name: "a", namespace: "n", creationTimestamp: "2020-01-01T00:00:00Z" };
const { json, versionOffset, itemOffset } = encodeObject({ kind: "ConfigMap", apiVersion: "v1", metadata }, schema);
const withUnknown = Buffer.from(`${json.toString().slice(0, -1)},"unknown":1}`);

const rows: [what: string, seal: Seal | undefined, servesUnknown: boolean][] = [
  [
    "serves the stored bytes when their fingerprint is that of the definition",
    { fingerprint: 7, versionOffset, itemOffset },
    true,
  ],
  ["encodes the object again when the fingerprint differs", { fingerprint: 8, versionOffset, itemOffset }, false],
  ["encodes the object again when it has no seal", undefined, false],
];
for (const [what, seal, servesUnknown] of rows) {
  test(what, () => {
    const stored = { key: "/registry/configmaps/n/a", revision: 5, value: withUnknown, ...(seal && { seal }) };
    const served = JSON.parse(entryFromStored(stored, source).json.toString());
    assert.deepEqual(served.metadata, { ...metadata, resourceVersion: "5" });
    assert.equal("unknown" in served, servesUnknown);
  });
}
