/**
 * The metrics of APIServices. Sources:
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/metrics/metrics.go and pkg/apiserver/metrics.go,
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/aggregated/metrics.go.
 */
import type { ApiServiceView } from "../forwarding/aggregator/contract.ts";
import type { CertificateObserver } from "../webhook/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

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
  const transitions = new Counters();
  const counts = { aggregated: 0, missingSan: 0, insecureSha1: 0 };
  return {
    observer: {
      unavailable: (name, reason) => transitions.count(formatLabels(["name", "reason"], [name, reason])),
      aggregated: () => void counts.aggregated++,
      missingSan: () => void counts.missingSan++,
      insecureSha1: () => void counts.insecureSha1++,
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
      counter("aggregator_discovery_aggregation_count_total", "Built discovery documents.", counts.aggregated),
      counter(
        "apiserver_kube_aggregator_x509_missing_san_total",
        "Requests to servers whose certificate has only a common name.",
        counts.missingSan,
      ),
      counter(
        "apiserver_kube_aggregator_x509_insecure_sha1_total",
        "Requests to servers whose certificate has a SHA-1 signature.",
        counts.insecureSha1,
      ),
    ],
  };
}

function counter(name: string, help: string, value: number): Metric {
  return { name, type: "counter", stability: "ALPHA", help, samples: [{ suffix: "", labels: "", value }] };
}
