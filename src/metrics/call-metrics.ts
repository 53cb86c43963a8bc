/** Calls of webhooks. Source: component-base's metrics/prometheus/restclient */
import type { CallObserver } from "../webhook/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters, Histograms } from "./vectors.ts";

export interface CallMetrics {
  readonly observer: CallObserver;
  collect(): Metric[];
}

const secondsBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const bytesBounds = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** All that is ever sent. */
const verb = "POST";

export function callMetrics(): CallMetrics {
  const requests = new Counters();
  const retries = new Counters();
  const durations = new Histograms(secondsBounds);
  const requestSizes = new Histograms(bytesBounds);
  const answerSizes = new Histograms(bytesBounds);
  const callLabels = (host: string): string => formatLabels(["verb", "host"], [verb, host]);
  return {
    observer: {
      sent(host, { bytes, attempt, status }) {
        const code = status === undefined ? "<error>" : String(status);
        requests.count(formatLabels(["code", "method", "host"], [code, verb, host]));
        if (attempt > 1) retries.count(formatLabels(["code", "verb", "host"], [code, verb, host]));
        requestSizes.observe(callLabels(host), bytes);
      },
      ended(host, { seconds, answerBytes }) {
        const labels = callLabels(host);
        durations.observe(labels, seconds);
        if (answerBytes !== undefined) answerSizes.observe(labels, answerBytes);
      },
    },
    collect: () => [
      {
        name: "rest_client_requests_total",
        type: "counter",
        stability: "ALPHA",
        help: "Requests to webhooks, by what came back.",
        samples: requests.samples(),
      },
      {
        name: "rest_client_request_retries_total",
        type: "counter",
        stability: "ALPHA",
        help: "Requests to webhooks that were tried again.",
        samples: retries.samples(),
      },
      {
        name: "rest_client_request_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Seconds that calls of webhooks took, with all tries.",
        samples: durations.samples(),
      },
      {
        name: "rest_client_request_size_bytes",
        type: "histogram",
        stability: "ALPHA",
        help: "Bytes of requests to webhooks.",
        samples: requestSizes.samples(),
      },
      {
        name: "rest_client_response_size_bytes",
        type: "histogram",
        stability: "ALPHA",
        help: "Bytes of the answers of webhooks.",
        samples: answerSizes.samples(),
      },
    ],
  };
}
