/**
 * The metrics of admission webhooks. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go.
 */
import type { WebhookObserver } from "../admission/webhooks/contract.ts";
import { labelFormatter, type Metric } from "./exposition.ts";
import { Counters, Histograms } from "./vectors.ts";

interface WebhookMetrics {
  readonly observer: WebhookObserver;
  collect(): Metric[];
}

const secondsBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];
/** A webhook can answer with any code. Larger ones are counted as this one. */
const codeMax = 600;

/** @returns empty metrics */
export function webhookMetrics(): WebhookMetrics {
  const durations = new Histograms(secondsBounds);
  const requests = new Counters();
  const rejections = new Counters();
  const failedOpen = new Counters();
  const call = ["name", "type", "operation"];
  const requestLabels = labelFormatter([...call, "code", "rejected"]);
  const durationLabels = labelFormatter([...call, "rejected"]);
  const rejectionLabels = labelFormatter([...call, "error_type", "rejection_code"]);
  const failedOpenLabels = labelFormatter(["name", "type"]);
  const codeOf = (code: number): string => String(Math.min(code, codeMax));
  return {
    observer: {
      called({ name, type, operation }, { seconds, code, rejected }) {
        requests.count(requestLabels(name, type, operation, codeOf(code), String(rejected)));
        durations.observe(durationLabels(name, type, operation, String(rejected)), seconds);
      },
      rejected: ({ name, type, operation }, cause, code) =>
        rejections.count(rejectionLabels(name, type, operation, cause, codeOf(code))),
      failedOpen: ({ name, type }) => failedOpen.count(failedOpenLabels(name, type)),
    },
    collect: () => [
      {
        name: "apiserver_admission_webhook_admission_duration_seconds",
        type: "histogram",
        stability: "STABLE",
        help: "Duration of calls of admission webhooks in seconds.",
        samples: durations.samples(),
      },
      counter("request_total", "Calls of admission webhooks by status code.", requests),
      counter("rejection_count", "Requests that admission webhooks rejected, by cause.", rejections),
      counter("fail_open_count", "Failed calls of admission webhooks that did not reject the request.", failedOpen),
    ],
  };
}

function counter(name: string, help: string, counters: Counters): Metric {
  return {
    name: `apiserver_admission_webhook_${name}`,
    type: "counter",
    stability: "ALPHA",
    help,
    samples: counters.samples(),
  };
}
