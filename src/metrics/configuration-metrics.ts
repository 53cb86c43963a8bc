/**
 * The metrics of what a server is configured with.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/feature/metrics.go.
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

export const configurationRows = {
  gates: {
    name: "kubernetes_feature_enabled",
    type: "gauge",
    stability: "BETA",
    help: "1 for enabled feature gates, 0 for others.",
    labels: ["name", "stage"],
  },
  /** kube-apiserver has none. `coxswain status` reads it. */
  engine: {
    name: "coxswain_storage_info",
    type: "gauge",
    stability: undefined,
    help: "Always 1, with the storage engine as a label.",
    labels: ["engine"],
  },
} as const satisfies MetricRows;

/** A feature gate and its stage; the metric shows `GA` as an empty string. */
interface StagedGate {
  readonly name: string;
  readonly stage: string;
}

/** @returns the metrics of all gates, and of the storage engine */
export function configurationMetrics(
  known: readonly StagedGate[],
  gates: FeatureGates,
  engine: string,
): readonly Metric[] {
  return [
    measured(
      configurationRows.gates,
      known.map(({ name, stage }) => [[name, stage === "GA" ? "" : stage], gates.enabled(name) ? 1 : 0]),
    ),
    measured(configurationRows.engine, [[[engine], 1]]),
  ];
}
