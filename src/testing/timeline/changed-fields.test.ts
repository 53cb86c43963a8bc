import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFields } from "./changed-fields.ts";

const object = (members: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: "v1",
  kind: "Thing",
  ...members,
});
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

const rows: [what: string, before: Record<string, unknown>, after: Record<string, unknown>, fields: unknown[][]][] = [
  ["a value", { spec: { replicas: 1 } }, { spec: { replicas: 3 } }, [["spec.replicas", "1", "3"]]],
  ["an added member", { spec: {} }, { spec: { paused: true } }, [["spec.paused", undefined, "true"]]],
  ["a removed member", { spec: { a: { b: 1 } } }, { spec: {} }, [["spec.a", '{"b":1}', undefined]]],
  [
    "large integers",
    { a: 9007199254740993n },
    { a: 9007199254740992n },
    [["a", "9007199254740993", "9007199254740992"]],
  ],
  [
    "an item by its name",
    {
      containers: [
        { name: "a", image: "x" },
        { name: "b", image: "y" },
      ],
    },
    { containers: [{ name: "c" }, { name: "b", image: "z" }] },
    [
      ["containers[a]", '{"name":"a","image":"x"}', undefined],
      ["containers[b].image", '"y"', '"z"'],
      ["containers[c]", undefined, '{"name":"c"}'],
    ],
  ],
  [
    "a condition by its type",
    { conditions: [{ type: "Ready", status: "False" }] },
    { conditions: [{ type: "Ready", status: "True" }] },
    [["conditions[Ready].status", '"False"', '"True"']],
  ],
  ["items by index", { args: ["a", "b"] }, { args: ["a", "c"] }, [["args[1]", '"b"', '"c"']]],
  ["keys with dots", { labels: { "a.b/c": "1" } }, { labels: { "a.b/c": "2" } }, [['labels["a.b/c"]', '"1"', '"2"']]],
  [
    "metadata that every write changes",
    { metadata: { resourceVersion: "1", managedFields: [1], annotations: { [lastApplied]: "{}" }, generation: 1 } },
    { metadata: { resourceVersion: "2", managedFields: [2], annotations: { [lastApplied]: "{1}" }, generation: 2 } },
    [["metadata.generation", "1", "2"]],
  ],
  [
    "values of Secrets",
    { kind: "Secret", data: { a: "eA==" }, type: "Opaque", metadata: {} },
    { kind: "Secret", data: { a: "eQ==" }, type: "Opaque", metadata: { annotations: { [lastApplied]: "eQ==" } } },
    [["data.a", "(hidden)", "(hidden)"]],
  ],
  [
    "all data of a Secret",
    { kind: "Secret" },
    { kind: "Secret", data: { a: "eQ==" } },
    [["data", undefined, "(hidden)"]],
  ],
  ["a long value", { a: "" }, { a: "x".repeat(1000) }, [["a", '""', `"${"x".repeat(99)}…`]]],
];
for (const [what, before, after, want] of rows) {
  test(`changed fields: ${what}`, () => {
    const { fields, moreFields } = changedFields(object(before), object(after));
    assert.deepEqual([fields.map((field) => [field.path, field.before, field.after]), moreFields], [want, 0]);
  });
}

test("changed fields: at most 20 are listed", () => {
  const members = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`m${at}`, at]));
  const { fields, moreFields } = changedFields(object({}), object(members));
  assert.deepEqual([fields.length, moreFields], [20, 10]);
});
