/**
 * The metrics of the external signer of service account tokens.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/externaljwt/metrics/metrics.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { SignerObserver } from "../authentication/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRow, MetricRows } from "./metric-row.ts";
import { Counters, Histograms, measured } from "./vectors.ts";

export const externalSignerRows = {
  fetched: {
    name: "apiserver_externaljwt_fetch_keys_success_timestamp",
    type: "gauge",
    stability: "ALPHA",
    help: "Time of the last successful call that fetched the keys of the external signer.",
  },
  data: {
    name: "apiserver_externaljwt_fetch_keys_data_timestamp",
    type: "gauge",
    stability: "ALPHA",
    help: "Time at which the external signer read the keys that it sent last.",
  },
  fetches: {
    name: "apiserver_externaljwt_fetch_keys_request_total",
    type: "counter",
    stability: "ALPHA",
    help: "Calls that fetched the keys of the external signer, by status.",
    labels: ["code"],
  },
  signed: {
    name: "apiserver_externaljwt_sign_request_total",
    type: "counter",
    stability: "ALPHA",
    help: "Tokens that the external signer signed, by status.",
    labels: ["code"],
  },
  durations: {
    name: "apiserver_externaljwt_request_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of calls to the external signer in seconds.",
    labels: ["code", "method"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
} as const satisfies MetricRows;

/** Counts calls by method and status. They have no series before the first call. */
export function externalSignerMetrics(clock: Clock): { readonly observer: SignerObserver; collect(): Metric[] } {
  const durations = new Histograms(externalSignerRows.durations);
  const fetches = new Counters(externalSignerRows.fetches);
  const signed = new Counters(externalSignerRows.signed);
  let times: { readonly fetched: number; readonly data: number } | undefined;
  const time = (row: MetricRow, seconds: number | undefined): Metric =>
    measured(row, seconds === undefined ? [] : [[[], seconds]]);
  return {
    observer: {
      called: (method, code, milliseconds) => durations.observe([code, method], milliseconds / 1000),
      fetchedKeys(code, dataSeconds) {
        fetches.count([code]);
        if (dataSeconds !== undefined) times = { fetched: clock.now() / 1000, data: dataSeconds };
      },
      signed: (code) => signed.count([code]),
    },
    collect: () => [
      time(externalSignerRows.fetched, times?.fetched),
      time(externalSignerRows.data, times?.data),
      ...[fetches, signed, durations].map((one) => one.metric()),
    ],
  };
}
