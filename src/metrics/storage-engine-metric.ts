import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

export const storageEngineRows = {
  info: {
    name: "coxswain_storage_info",
    type: "gauge",
    stability: undefined,
    help: "Always 1, with the storage engine as a label.",
    labels: ["engine"],
  },
} as const satisfies MetricRows;

/** The metric that names the storage engine; kube-apiserver has none. `coxswain status` reads it. */
export function storageEngineMetric(engine: string): Metric {
  return measured(storageEngineRows.info, [[[engine], 1]]);
}
