import { formatLabels, type Metric } from "./exposition.ts";

/** The metric that names the storage engine; kube-apiserver has none. `coxswain status` reads it. */
export function storageEngineMetric(engine: string): Metric {
  return {
    name: "coxswain_storage_info",
    type: "gauge",
    stability: undefined,
    help: "Always 1, with the storage engine as a label.",
    samples: [{ suffix: "", labels: formatLabels(["engine"], [engine]), value: 1 }],
  };
}
