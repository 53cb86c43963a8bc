/**
 * The metric of feature gates.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/feature/metrics.go.
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { formatLabels, type Metric } from "./exposition.ts";

/** A feature gate and its stage; the metric shows `GA` as an empty string. */
interface StagedGate {
  readonly name: string;
  readonly stage: string;
}

/** @returns the metric for all gates */
export function featureMetrics(gates: readonly StagedGate[], { enabled }: FeatureGates): Metric {
  const samples = gates.map(({ name, stage }) => {
    const labels = formatLabels(["name", "stage"], [name, stage === "GA" ? "" : stage]);
    return { suffix: "", labels, value: enabled(name) ? 1 : 0 };
  });
  return {
    name: "kubernetes_feature_enabled",
    type: "gauge",
    stability: "BETA",
    help: "1 for enabled feature gates, 0 for others.",
    samples,
  };
}
