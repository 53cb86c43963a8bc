/** Which feature gates are on. Source: component-base's metrics/prometheus/feature. */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { formatLabels, type Metric } from "./exposition.ts";

/** A gate, and its stage as upstream names it: `GA` has no name there. */
export interface StagedGate {
  readonly name: string;
  readonly stage: string;
}

export function featureMetrics(gates: readonly StagedGate[], { enabled }: FeatureGates): Metric {
  const samples = gates.map(({ name, stage }) => {
    const labels = formatLabels(["name", "stage"], [name, stage === "GA" ? "" : stage]);
    return { suffix: "", labels, value: enabled(name) ? 1 : 0 };
  });
  return {
    name: "kubernetes_feature_enabled",
    type: "gauge",
    stability: "BETA",
    help: "1 for each feature gate that is on, 0 for the others.",
    samples,
  };
}
