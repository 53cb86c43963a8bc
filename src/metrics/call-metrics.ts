/**
 * The metrics of webhook calls.
 * Sources: k8s.io/component-base@v0.36.0/metrics/prometheus/restclient/metrics.go,
 * k8s.io/apiserver@v0.36.0/pkg/util/webhook/metrics.go.
 */
import type { CallObserver } from "../webhook/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms, single } from "./vectors.ts";

const bytesBuckets = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

export const callRows = {
  requests: {
    name: "rest_client_requests_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to webhooks by status code.",
    labels: ["code", "method", "host"],
  },
  retries: {
    name: "rest_client_request_retries_total",
    type: "counter",
    stability: "ALPHA",
    help: "Retried requests to webhooks.",
    labels: ["code", "verb", "host"],
  },
  durations: {
    name: "rest_client_request_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of webhook calls in seconds, including retries.",
    labels: ["verb", "host"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  },
  requestSizes: {
    name: "rest_client_request_size_bytes",
    type: "histogram",
    stability: "ALPHA",
    help: "Size of requests to webhooks in bytes.",
    labels: ["verb", "host"],
    buckets: bytesBuckets,
  },
  answerSizes: {
    name: "rest_client_response_size_bytes",
    type: "histogram",
    stability: "ALPHA",
    help: "Size of responses of webhooks in bytes.",
    labels: ["verb", "host"],
    buckets: bytesBuckets,
  },
  missingSan: {
    name: "apiserver_webhooks_x509_missing_san_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to webhooks whose certificate has only a common name.",
  },
  insecureSha1: {
    name: "apiserver_webhooks_x509_insecure_sha1_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests to webhooks whose certificate has a SHA-1 signature.",
  },
} as const satisfies MetricRows;

/** Records calls of webhooks. */
export interface CallMetrics {
  readonly observer: CallObserver;
  collect(): Metric[];
}

/** The only method that webhook clients use. */
const verb = "POST";

/** @returns empty metrics */
export function callMetrics(): CallMetrics {
  const requests = new Counters(callRows.requests);
  const retries = new Counters(callRows.retries);
  const durations = new Histograms(callRows.durations);
  const requestSizes = new Histograms(callRows.requestSizes);
  const answerSizes = new Histograms(callRows.answerSizes);
  const flaws = { missingSan: 0, insecureSha1: 0 };
  return {
    observer: {
      sent(host, { bytes, attempt, status }) {
        const code = status === undefined ? "<error>" : String(status);
        requests.count([code, verb, host]);
        if (attempt > 1) retries.count([code, verb, host]);
        requestSizes.observe([verb, host], bytes);
      },
      ended(host, { seconds, answerBytes }) {
        durations.observe([verb, host], seconds);
        if (answerBytes !== undefined) answerSizes.observe([verb, host], answerBytes);
      },
      missingSan: () => void flaws.missingSan++,
      insecureSha1: () => void flaws.insecureSha1++,
    },
    collect: () => [
      ...[requests, retries, durations, requestSizes, answerSizes].map((one) => one.metric()),
      single(callRows.missingSan, flaws.missingSan),
      single(callRows.insecureSha1, flaws.insecureSha1),
    ],
  };
}
