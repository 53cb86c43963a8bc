/**
 * The metrics of admission webhooks. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go.
 */
import type { WebhookObserver } from "../admission/webhooks/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms } from "./vectors.ts";

export const webhookRows = {
  durations: {
    name: "apiserver_admission_webhook_admission_duration_seconds",
    type: "histogram",
    stability: "STABLE",
    help: "Duration of calls of admission webhooks in seconds.",
    labels: ["name", "type", "operation", "rejected"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  },
  requests: {
    name: "apiserver_admission_webhook_request_total",
    type: "counter",
    stability: "ALPHA",
    help: "Calls of admission webhooks by status code.",
    labels: ["name", "type", "operation", "code", "rejected"],
  },
  rejections: {
    name: "apiserver_admission_webhook_rejection_count",
    type: "counter",
    stability: "ALPHA",
    help: "Requests that admission webhooks rejected, by cause.",
    labels: ["name", "type", "operation", "error_type", "rejection_code"],
  },
  failedOpen: {
    name: "apiserver_admission_webhook_fail_open_count",
    type: "counter",
    stability: "ALPHA",
    help: "Failed calls of admission webhooks that did not reject the request.",
    labels: ["name", "type"],
  },
} as const satisfies MetricRows;

interface WebhookMetrics {
  readonly observer: WebhookObserver;
  collect(): Metric[];
}

/** A webhook can answer with any code. Larger ones are counted as this one. */
const codeMax = 600;

/** @returns empty metrics */
export function webhookMetrics(): WebhookMetrics {
  const durations = new Histograms(webhookRows.durations);
  const requests = new Counters(webhookRows.requests);
  const rejections = new Counters(webhookRows.rejections);
  const failedOpen = new Counters(webhookRows.failedOpen);
  const codeOf = (code: number): string => String(Math.min(code, codeMax));
  return {
    observer: {
      called({ name, type, operation }, { seconds, code, rejected }) {
        requests.count([name, type, operation, codeOf(code), String(rejected)]);
        durations.observe([name, type, operation, String(rejected)], seconds);
      },
      rejected: ({ name, type, operation }, cause, code) =>
        rejections.count([name, type, operation, cause, codeOf(code)]),
      failedOpen: ({ name, type }) => failedOpen.count([name, type]),
    },
    collect: () => [durations.metric(), requests.metric(), rejections.metric(), failedOpen.metric()],
  };
}
