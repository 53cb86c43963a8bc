/**
 * The metric of feature gates.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/feature/metrics.go.
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

export const featureRows = {
  enabled: {
    name: "kubernetes_feature_enabled",
    type: "gauge",
    stability: "BETA",
    help: "1 for enabled feature gates, 0 for others.",
    labels: ["name", "stage"],
  },
} as const satisfies MetricRows;

/** A feature gate and its stage; the metric shows `GA` as an empty string. */
interface StagedGate {
  readonly name: string;
  readonly stage: string;
}

/** @returns the metric for all gates */
export function featureMetrics(gates: readonly StagedGate[], { enabled }: FeatureGates): Metric {
  return measured(
    featureRows.enabled,
    gates.map(({ name, stage }) => [[name, stage === "GA" ? "" : stage], enabled(name) ? 1 : 0]),
  );
}
