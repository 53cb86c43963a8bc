/**
 * The metrics of webhook calls.
 * Sources: k8s.io/component-base@v0.36.0/metrics/prometheus/restclient/metrics.go,
 * k8s.io/apiserver@v0.36.0/pkg/util/webhook/metrics.go.
 */
import type { CallObserver } from "../webhook/contract.ts";
import { labelFormatter, type Metric } from "./exposition.ts";
import { Counters, Histograms } from "./vectors.ts";

/** Records calls of webhooks. */
export interface CallMetrics {
  readonly observer: CallObserver;
  collect(): Metric[];
}

const secondsBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const bytesBounds = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** The only method that webhook clients use. */
const verb = "POST";

/** @returns empty metrics */
export function callMetrics(): CallMetrics {
  const requests = new Counters();
  const retries = new Counters();
  const durations = new Histograms(secondsBounds);
  const requestSizes = new Histograms(bytesBounds);
  const answerSizes = new Histograms(bytesBounds);
  const flaws = { missingSan: 0, insecureSha1: 0 };
  const callLabels = labelFormatter(["verb", "host"]);
  const requestLabels = labelFormatter(["code", "method", "host"]);
  const retryLabels = labelFormatter(["code", "verb", "host"]);
  return {
    observer: {
      sent(host, { bytes, attempt, status }) {
        const code = status === undefined ? "<error>" : String(status);
        requests.count(requestLabels(code, verb, host));
        if (attempt > 1) retries.count(retryLabels(code, verb, host));
        requestSizes.observe(callLabels(verb, host), bytes);
      },
      ended(host, { seconds, answerBytes }) {
        const labels = callLabels(verb, host);
        durations.observe(labels, seconds);
        if (answerBytes !== undefined) answerSizes.observe(labels, answerBytes);
      },
      missingSan: () => void flaws.missingSan++,
      insecureSha1: () => void flaws.insecureSha1++,
    },
    collect: () => [
      metric("counter", "rest_client_requests_total", "Requests to webhooks by status code.", requests),
      metric("counter", "rest_client_request_retries_total", "Retried requests to webhooks.", retries),
      metric(
        "histogram",
        "rest_client_request_duration_seconds",
        "Duration of webhook calls in seconds, including retries.",
        durations,
      ),
      metric("histogram", "rest_client_request_size_bytes", "Size of requests to webhooks in bytes.", requestSizes),
      metric("histogram", "rest_client_response_size_bytes", "Size of responses of webhooks in bytes.", answerSizes),
      ...flawMetrics(flaws),
    ],
  };
}

function metric(type: Metric["type"], name: string, help: string, values: Counters | Histograms): Metric {
  return { name, type, stability: "ALPHA", help, samples: values.samples() };
}

function flawMetrics({ missingSan, insecureSha1 }: { missingSan: number; insecureSha1: number }): Metric[] {
  const counter = (name: string, help: string, value: number): Metric => ({
    name: `apiserver_webhooks_x509_${name}_total`,
    type: "counter",
    stability: "ALPHA",
    help,
    samples: [{ suffix: "", labels: "", value }],
  });
  return [
    counter("missing_san", "Requests to webhooks whose certificate has only a common name.", missingSan),
    counter("insecure_sha1", "Requests to webhooks whose certificate has a SHA-1 signature.", insecureSha1),
  ];
}
