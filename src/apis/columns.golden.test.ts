/**
 * Random objects of every kind as upstream's printers show them, recorded by
 * tools/golden/kubernetes/tables.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { cellAt } from "../../test/support/cell-at.ts";
import { type KubeObject, parseGroupVersion } from "../apimachinery/object.ts";
import { builtinDefinitions, builtinVersions } from "../catalog/builtin-definitions.ts";
import { defaultColumns } from "../catalog/common-columns.ts";
import type { ResourceDefinition, StorageForm } from "../catalog/contract.ts";
import { parseRuntimeConfig } from "../catalog/runtime-config.ts";
import { conform } from "../lib/schema/decode.ts";
import { builtinConversions, builtinStrategies } from "./index.ts";

interface Row {
  readonly object: KubeObject;
  readonly cells: readonly unknown[];
  readonly conditions?: readonly object[];
  readonly columns?: readonly object[];
}

const file = join(import.meta.dirname, "testdata/tables.jsonl.gz");
const [head = "", ...lines] = gunzipSync(readFileSync(file)).toString().trim().split("\n");
const { now } = JSON.parse(head) as { now: number };
const rowsByKind = Map.groupBy(
  lines.map((line) => JSON.parse(line) as Row),
  ({ object }) => `${object.apiVersion} ${object.kind}`,
);

const definitions = builtinDefinitions({
  strategies: builtinStrategies,
  conversions: builtinConversions,
  served: parseRuntimeConfig("api/all=true", builtinVersions()),
});

/** Upstream has a printer of this kind, which its storage does not use. */
rowsByKind.delete("storage.k8s.io/v1 CSIStorageCapacity");

for (const [kind, rows] of rowsByKind) {
  test(`tables of ${kind}`, () => {
    const [first] = rows as [Row];
    const group = parseGroupVersion(first.object.apiVersion ?? "")?.group;
    const definition = definitions.find(
      (one) => one.group === group && one.kind === first.object.kind && one.storage !== undefined,
    );
    const { strategy, storage } = definition as ResourceDefinition;
    const columns = strategy.columns ?? defaultColumns;
    assert.deepEqual(
      columns.map(({ value: _, format = "", ...definition }) => ({ ...definition, format })),
      first.columns,
    );
    for (const { object: sent, cells, conditions = [] } of rows) {
      const object = conform(structuredClone(sent), (storage as StorageForm).schema).object as KubeObject;
      const shown = columns.map((column) => cellAt(column, object, now) ?? null);
      // Of IPAddresses upstream shows the age as well, in a column that it does not define.
      assert.deepEqual(shown, cells.slice(0, columns.length), JSON.stringify(sent));
      assert.deepEqual(strategy.rowConditions(object), conditions);
    }
  });
}
