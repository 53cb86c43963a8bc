import assert from "node:assert/strict";
import { test } from "node:test";
import { blockYaml } from "./block-yaml.ts";

/** The YAML that gnostic-models 0.7.0 has in its messages for the same JSON. */
const rows: [value: unknown, yaml: string][] = [
  ["atomic", "atomic\n"],
  ["*", "'*'\n"],
  ["", '""\n'],
  ["true", '"true"\n'],
  [1, "1\n"],
  [true, "true\n"],
  [{}, "{}\n"],
  [["name", "protocol"], "- name\n- protocol\n"],
  [{ group: "", version: "v1", kind: "Pod" }, 'group: ""\nversion: v1\nkind: Pod\n'],
  [[{ group: "apps", kind: "Scale" }, { group: "b" }], "- group: apps\n  kind: Scale\n- group: b\n"],
  [
    [{ discriminator: "type", "fields-to-discriminateBy": { localhostProfile: "LocalhostProfile" } }],
    "- discriminator: type\n  fields-to-discriminateBy:\n    localhostProfile: LocalhostProfile\n",
  ],
  [{ a: { b: ["c", { d: 1 }], e: [] } }, "a:\n    b:\n        - c\n        - d: 1\n    e: []\n"],
  [[["a", "b"], { c: { d: [1] } }], "- - a\n  - b\n- c:\n    d:\n        - 1\n"],
];
for (const [value, yaml] of rows) test(JSON.stringify(value), () => assert.equal(blockYaml(value), yaml));

test("encodes a string with several lines as JSON", () =>
  assert.equal(blockYaml({ a: "two\nlines" }), 'a: "two\\nlines"\n'));
