/**
 * The metrics of APIServices. Source:
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/metrics/metrics.go.
 */
import type { ApiServiceView } from "../aggregator/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

/** Records the availability of APIServices. */
export interface AggregationMetrics {
  readonly observer: {
    /** An available APIService has become unavailable. */
    unavailable(name: string, reason: string): void;
  };
  collect(): Metric[];
}

/** @param list returns the current APIServices */
export function aggregationMetrics(list: () => readonly ApiServiceView[]): AggregationMetrics {
  const transitions = new Counters();
  return {
    observer: {
      unavailable: (name, reason) => transitions.count(formatLabels(["name", "reason"], [name, reason])),
    },
    collect: () => [
      {
        name: "aggregator_unavailable_apiservice",
        type: "gauge",
        stability: "ALPHA",
        help: "Whether an APIService is unavailable.",
        samples: list().map(({ name, isAvailable }) => ({
          suffix: "",
          labels: formatLabels(["name"], [name]),
          value: isAvailable ? 0 : 1,
        })),
      },
      {
        name: "aggregator_unavailable_apiservice_total",
        type: "counter",
        stability: "ALPHA",
        help: "How often APIServices have become unavailable, by reason.",
        samples: transitions.samples(),
      },
    ],
  };
}
