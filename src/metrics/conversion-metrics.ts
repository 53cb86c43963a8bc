/**
 * The metrics of conversion webhooks.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion/metrics.go.
 */
import type { ConversionObserver } from "../webhook/conversion-observer.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";

interface ConversionMetrics {
  readonly observer: ConversionObserver;
  collect(): Metric[];
}

const callBounds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];
const conversionBounds = exponentialBounds(0.001, 2, 15);
/** The maximum number of series. Conversions beyond it are not counted. */
const seriesMax = 10_000;

/** @returns empty metrics */
export function conversionMetrics(): ConversionMetrics {
  const calls = new Map<string, number>();
  const callDurations = new Map<string, Histogram>();
  const conversions = new Map<string, Histogram>();
  return {
    observer: {
      called(failure, milliseconds) {
        const values = failure === undefined ? ["", "success"] : [`conversion_webhook_${failure}_failure`, "failure"];
        const labels = formatLabels(["failure_type", "result"], values);
        calls.set(labels, (calls.get(labels) ?? 0) + 1);
        observe(callDurations, labels, callBounds, milliseconds);
      },
      converted(definition, from, to, succeeded, milliseconds) {
        const labels = formatLabels(
          ["crd_name", "from_version", "succeeded", "to_version"],
          [definition, from, String(succeeded), to],
        );
        observe(conversions, labels, conversionBounds, milliseconds);
      },
    },
    collect: () => [
      {
        name: "apiserver_conversion_webhook_request_total",
        type: "counter",
        stability: "ALPHA",
        help: "Calls of conversion webhooks by result.",
        samples: Array.from(calls, ([labels, value]) => ({ suffix: "", labels, value })),
      },
      {
        name: "apiserver_conversion_webhook_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Duration of conversion webhook calls in seconds, by result.",
        samples: samplesOf(callDurations),
      },
      {
        name: "apiserver_crd_conversion_webhook_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Duration of conversions of custom resources in seconds.",
        samples: samplesOf(conversions),
      },
    ],
  };
}

function observe(
  histograms: Map<string, Histogram>,
  labels: string,
  bounds: readonly number[],
  milliseconds: number,
): void {
  let histogram = histograms.get(labels);
  if (histogram === undefined) {
    if (histograms.size >= seriesMax) return;
    histogram = new Histogram(bounds);
    histograms.set(labels, histogram);
  }
  histogram.observe(milliseconds / 1000);
}

function samplesOf(histograms: ReadonlyMap<string, Histogram>): Sample[] {
  return [...histograms].flatMap(([labels, histogram]) => [...histogram.samples(labels)]);
}
