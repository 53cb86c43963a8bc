/** Every metric is in upstream's table with the same type, stability, labels and buckets. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { everyMetric } from "../../test/support/every-metric.ts";
import { metricRows } from "./all-rows.ts";

interface Row {
  readonly type: string;
  readonly stability: string;
  readonly labels?: readonly string[];
  readonly deprecatedSince?: string;
  readonly buckets?: readonly number[];
}

/**
 * A name from the documentation of the feature gate DeclarativeValidation, which the code of 1.36
 * does not use.
 */
const documented: Readonly<Record<string, Row>> = {
  declarative_validation_mismatch_total: { type: "counter", stability: "BETA" },
};
/** Labels with one value, which the table does not have. */
const constantLabels: Readonly<Record<string, readonly string[]>> = {
  apiserver_flowcontrol_priority_level_seat_utilization: ["phase"],
};
const table: Readonly<Record<string, Row>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "testdata/upstream-metrics.json"), "utf8"),
);

/** Metrics without a stability belong to no part of Kubernetes. */
const upstreamRows = metricRows.filter(({ stability }) => stability !== undefined);

for (const { name, type, stability, deprecatedSince, labels = [], buckets } of upstreamRows) {
  test(`${name} has upstream's type, stability, deprecation, labels and buckets`, () => {
    const row = table[name] ?? documented[name];
    assert.ok(row !== undefined, "is not upstream's");
    assert.deepEqual([type, stability, deprecatedSince], [row.type, row.stability, row.deprecatedSince]);
    assert.deepEqual([...labels].sort(), [...(row.labels ?? []), ...(constantLabels[name] ?? [])].sort());
    if (row.buckets !== undefined) assert.deepEqual(buckets, row.buckets);
  });
}

test("each metric has one row, and histograms have buckets", () => {
  assert.equal(new Set(metricRows.map(({ name }) => name)).size, metricRows.length);
  for (const { name, type, buckets } of metricRows) assert.equal(type === "histogram", buckets !== undefined, name);
});

test("other metrics are those of Prometheus clients and of this server", () => {
  const others = metricRows.filter(({ stability }) => stability === undefined).map(({ name }) => name);
  assert.deepEqual(
    others.filter((name) => !/^(?:process|coxswain)_/.test(name)),
    [],
  );
});

test("each row is collected", async () => {
  const collected = (await everyMetric()).filter(({ samples }) => samples.length > 0).map(({ name }) => name);
  assert.deepEqual([...new Set(collected)].sort(), metricRows.map(({ name }) => name).sort());
});
