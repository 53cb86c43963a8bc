/** Every metric is in upstream's table with the same type, stability, labels and buckets. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { everyMetric } from "../../test/support/every-metric.ts";
import { formatLabels } from "./exposition.ts";

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
/** Metrics that upstream's list does not have: k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/certificates/storage/metrics.go. */
const unlisted: Readonly<Record<string, Row>> = Object.fromEntries(
  ["requested", "honored"].map((what) => [
    `apiserver_certificates_registry_csr_${what}_duration_total`,
    { type: "counter", stability: "ALPHA", labels: ["signerName"] },
  ]),
);
/** Labels with one value, which the table does not have. */
const constantLabels: Readonly<Record<string, readonly string[]>> = {
  apiserver_flowcontrol_priority_level_seat_utilization: ["phase"],
};
const table: Readonly<Record<string, Row>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "testdata/upstream-metrics.json"), "utf8"),
);

const labelNames = (labels: string): string[] =>
  [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name]) => name as string);

test("metrics have upstream's type, stability, labels, buckets and deprecation", async () => {
  const metrics = (await everyMetric()).filter(({ name }) => !/^(process|coxswain)_/.test(name));
  assert.ok(metrics.length > 40);
  for (const { name, type, stability, deprecatedSince, samples } of metrics) {
    const row = table[name] ?? documented[name] ?? unlisted[name];
    assert.ok(row !== undefined, `${name} is not upstream's`);
    assert.deepEqual([name, type, stability, deprecatedSince], [name, row.type, row.stability, row.deprecatedSince]);
    const [sample] = samples;
    assert.ok(sample !== undefined, `${name} has no sample`);
    const bounds = samples
      .filter(({ suffix }) => suffix === "_bucket")
      .map(({ labels }) => Number(/le="([^"]*)"/.exec(labels)?.[1]));
    if (row.buckets !== undefined)
      assert.deepEqual([name, ...new Set(bounds.filter((bound) => !Number.isNaN(bound)))], [name, ...row.buckets]);
    const names = labelNames(sample.labels).filter((label) => label !== "le");
    assert.deepEqual(
      [name, ...names.sort()],
      [name, ...(row.labels ?? []), ...(constantLabels[name] ?? [])].sort((a, b) =>
        a === name ? -1 : b === name ? 1 : a < b ? -1 : 1,
      ),
    );
  }
});

test("parses encoded label values", () =>
  assert.deepEqual(labelNames(formatLabels(["a", "b"], ['"x="', "\\"])), ["a", "b"]));
