import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { cellAt } from "../../../test/support/cell-at.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { customColumns } from "./custom-columns.ts";

const object = {
  metadata: { name: "a", creationTimestamp: "2020-01-01T00:00:00Z", labels: { "a.b/c": "x" } },
  spec: { size: 3, ratio: 1.5, on: true, list: ["a", "b"], map: { b: 1, a: "<" } },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False" },
    ],
  },
} as unknown as KubeObject;

const rows: [jsonPath: string, type: string, cell: unknown][] = [
  [".spec.size", "integer", 3],
  [".spec.ratio", "integer", 1],
  [".spec.ratio", "number", 1.5],
  [".spec.size", "string", "3"],
  [".spec.size", "boolean", undefined],
  [".spec.on", "boolean", true],
  [".spec.on", "string", "true"],
  [".spec.map", "string", '{"a":"\\u003c","b":1}'],
  [".spec.list", "string", '["a","b"]'],
  [".spec.list[0]", "string", "a"],
  [".spec.list[-1]", "string", "b"],
  [".spec.list[5]", "string", undefined],
  [".spec.list[*]", "string", "a"],
  [".spec.nope.x", "string", undefined],
  [".metadata.labels['a.b/c']", "string", undefined],
  [".metadata.labels.a\\.b/c", "string", "x"],
  ['.status.conditions[?(@.type=="Ready")].status', "string", "True"],
  [".status.conditions[?(@.type=='Other')].status", "string", "False"],
  ['.status.conditions[?(@.type!="Ready")].status', "string", "False"],
  ['.status.conditions[?(@.type=="None")].status', "string", undefined],
  [".metadata.creationTimestamp", "date", "60s"],
  [".metadata.name", "date", "<invalid>"],
  [".spec.constructor", "string", undefined],
];

for (const [jsonPath, type, cell] of rows) {
  test(`${type} at ${jsonPath}`, () => {
    const [, column] = customColumns([{ name: "c", type, jsonPath }]);
    assert.ok(column);
    assert.deepEqual(cellAt(column, object, Date.UTC(2020, 0, 1, 0, 1)), cell);
  });
}

test("shows the age of a version without columns", () => {
  assert.deepEqual(
    customColumns([]).map(({ name, type }) => [name, type]),
    [
      ["Name", "string"],
      ["Age", "date"],
    ],
  );
});

const [goldenObject = "", ...goldenLines] = readFileSync(
  new URL("../../lib/jsonpath/testdata/golden.jsonl", import.meta.url),
  "utf8",
)
  .trimEnd()
  .split("\n");
const goldenTypes = ["string", "integer", "number", "boolean"];

/** Upstream's cells. Paths whose results have a random order in Go are skipped. */
for (const line of goldenLines) {
  const { path, syntax, cells = [] } = JSON.parse(line) as { path: string; syntax?: boolean; cells?: unknown[] };
  if (path.includes("..") || path === ".*") continue;
  test(`cells at {${path}}`, () => {
    const columns = goldenTypes.map((type) => customColumns([{ name: "c", type, jsonPath: path }])[1]);
    const object = JSON.parse(goldenObject);
    if (syntax) assert.deepEqual(columns, [undefined, undefined, undefined, undefined]);
    else
      assert.deepEqual(
        columns.map((column) => column?.value(object) ?? null),
        goldenTypes.map((_type, index) => cells[index] ?? null),
      );
  });
}
