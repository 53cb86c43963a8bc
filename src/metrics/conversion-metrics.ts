/**
 * The metrics of conversion webhooks.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion/metrics.go.
 */
import type { ConversionObserver } from "../webhook/conversion-observer.ts";
import type { Metric } from "./exposition.ts";
import { exponentialBounds } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms } from "./vectors.ts";

export const conversionRows = {
  calls: {
    name: "apiserver_conversion_webhook_request_total",
    type: "counter",
    stability: "ALPHA",
    help: "Calls of conversion webhooks by result.",
    labels: ["failure_type", "result"],
  },
  callDurations: {
    name: "apiserver_conversion_webhook_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of conversion webhook calls in seconds, by result.",
    labels: ["failure_type", "result"],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  },
  conversions: {
    name: "apiserver_crd_conversion_webhook_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of conversions of custom resources in seconds.",
    labels: ["crd_name", "from_version", "succeeded", "to_version"],
    buckets: exponentialBounds(0.001, 2, 15),
  },
} as const satisfies MetricRows;

interface ConversionMetrics {
  readonly observer: ConversionObserver;
  collect(): Metric[];
}

/** @returns empty metrics */
export function conversionMetrics(): ConversionMetrics {
  const calls = new Counters(conversionRows.calls);
  const callDurations = new Histograms(conversionRows.callDurations);
  const conversions = new Histograms(conversionRows.conversions);
  return {
    observer: {
      called(failure, milliseconds) {
        const labels =
          failure === undefined
            ? (["", "success"] as const)
            : ([`conversion_webhook_${failure}_failure`, "failure"] as const);
        calls.count(labels);
        callDurations.observe(labels, milliseconds / 1000);
      },
      converted: (definition, from, to, succeeded, milliseconds) =>
        conversions.observe([definition, from, String(succeeded), to], milliseconds / 1000),
    },
    collect: () => [calls.metric(), callDurations.metric(), conversions.metric()],
  };
}
