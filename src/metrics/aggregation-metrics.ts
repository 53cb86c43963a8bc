/**
 * The metrics of APIServices. Sources:
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/metrics/metrics.go and pkg/apiserver/metrics.go,
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/aggregated/metrics.go.
 */
import type { ApiServiceView } from "../forwarding/aggregator/contract.ts";
import type { CertificateObserver } from "../webhook/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, measured, single } from "./vectors.ts";

export const aggregationRows = {
  unavailable: {
    name: "aggregator_unavailable_apiservice",
    type: "gauge",
    stability: "ALPHA",
    help: "Whether an APIService is unavailable.",
    labels: ["name"],
  },
  transitions: {
    name: "aggregator_unavailable_apiservice_total",
    type: "counter",
    stability: "ALPHA",
    help: "How often APIServices have become unavailable, by reason.",
    labels: ["name", "reason"],
  },
  aggregated: {
    name: "aggregator_discovery_aggregation_count_total",
    type: "counter",
    stability: "ALPHA",
    help: "Built discovery documents.",
  },
  missingSan: {
    name: "apiserver_kube_aggregator_x509_missing_san_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to servers whose certificate has only a common name.",
  },
  insecureSha1: {
    name: "apiserver_kube_aggregator_x509_insecure_sha1_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to servers whose certificate has a SHA-1 signature.",
  },
} as const satisfies MetricRows;

/** Records the availability of APIServices. */
export interface AggregationMetrics {
  readonly observer: {
    /** An available APIService has become unavailable. */
    unavailable(name: string, reason: string): void;
    /** A document of aggregated discovery was built. */
    aggregated(): void;
  } & CertificateObserver;
  collect(): Metric[];
}

/** @param list returns the current APIServices */
export function aggregationMetrics(list: () => readonly ApiServiceView[]): AggregationMetrics {
  const transitions = new Counters(aggregationRows.transitions);
  const counts = { aggregated: 0, missingSan: 0, insecureSha1: 0 };
  return {
    observer: {
      unavailable: (name, reason) => transitions.count([name, reason]),
      aggregated: () => void counts.aggregated++,
      missingSan: () => void counts.missingSan++,
      insecureSha1: () => void counts.insecureSha1++,
    },
    collect: () => [
      measured(
        aggregationRows.unavailable,
        list().map(({ name, isAvailable }) => [[name], isAvailable ? 0 : 1]),
      ),
      transitions.metric(),
      ...(["aggregated", "missingSan", "insecureSha1"] as const).map((key) =>
        single(aggregationRows[key], counts[key]),
      ),
    ],
  };
}
