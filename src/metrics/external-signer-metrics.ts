/**
 * The metrics of the external signer of service account tokens.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/externaljwt/metrics/metrics.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { SignerObserver } from "../authentication/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts calls by method and status. They have no series before the first call. */
export function externalSignerMetrics(clock: Clock): { readonly observer: SignerObserver; collect(): Metric[] } {
  const durations = new Map<string, Histogram>();
  const fetches = new Map<string, number>();
  const signed = new Map<string, number>();
  const times = new Map<"success" | "data", number>();
  const count = (counts: Map<string, number>, code: string): unknown => counts.set(code, (counts.get(code) ?? 0) + 1);
  const observer: SignerObserver = {
    called(method, code, milliseconds) {
      const labels = formatLabels(["code", "method"], [code, method]);
      const histogram = durations.get(labels) ?? new Histogram(bounds);
      durations.set(labels, histogram);
      histogram.observe(milliseconds / 1000);
    },
    fetchedKeys(code, dataSeconds) {
      count(fetches, code);
      if (dataSeconds === undefined) return;
      times.set("success", clock.now() / 1000);
      times.set("data", dataSeconds);
    },
    signed: (code) => count(signed, code),
  };
  const metric = (name: string, type: Metric["type"], help: string, samples: Iterable<Sample>): Metric => ({
    name: `apiserver_externaljwt_${name}`,
    type,
    stability: "ALPHA",
    help,
    samples: [...samples],
  });
  return {
    observer,
    collect: () => [
      metric(
        "fetch_keys_success_timestamp",
        "gauge",
        "Time of the last successful call that fetched the keys of the external signer.",
        timeSample(times.get("success")),
      ),
      metric(
        "fetch_keys_data_timestamp",
        "gauge",
        "Time at which the external signer read the keys that it sent last.",
        timeSample(times.get("data")),
      ),
      metric(
        "fetch_keys_request_total",
        "counter",
        "Calls that fetched the keys of the external signer, by status.",
        counted(fetches),
      ),
      metric("sign_request_total", "counter", "Tokens that the external signer signed, by status.", counted(signed)),
      metric(
        "request_duration_seconds",
        "histogram",
        "Duration of calls to the external signer in seconds.",
        [...durations].flatMap(([labels, histogram]) => [...histogram.samples(labels)]),
      ),
    ],
  };
}

function timeSample(value: number | undefined): Sample[] {
  return value === undefined ? [] : [{ suffix: "", labels: "", value }];
}

function counted(counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([code, value]) => ({ suffix: "", labels: formatLabels(["code"], [code]), value }));
}
