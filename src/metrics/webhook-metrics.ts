/**
 * The metrics of admission webhooks. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go.
 */
import type { WebhookCall, WebhookObserver } from "../admission/webhooks/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
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
  const labelsOf = ({ name, type, operation }: WebhookCall, more: Readonly<Record<string, string>>): string =>
    formatLabels(["name", "type", "operation", ...Object.keys(more)], [name, type, operation, ...Object.values(more)]);
  const codeOf = (code: number): string => String(Math.min(code, codeMax));
  return {
    observer: {
      called(call, { seconds, code, rejected }) {
        requests.count(labelsOf(call, { code: codeOf(code), rejected: String(rejected) }));
        durations.observe(labelsOf(call, { rejected: String(rejected) }), seconds);
      },
      rejected: (call, cause, code) =>
        rejections.count(labelsOf(call, { error_type: cause, rejection_code: codeOf(code) })),
      failedOpen: ({ name, type }) => failedOpen.count(formatLabels(["name", "type"], [name, type])),
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
