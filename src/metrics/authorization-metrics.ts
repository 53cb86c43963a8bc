/**
 * The metrics of authorization.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authorization/metrics/metrics.go and
 * pkg/authorization/cel/metrics.go.
 */
import type { AuthorizationObserver, Decision, DecisionCounts } from "../authorization/contract.ts";
import { formatLabels, type Metric, type MetricType, type Sample } from "./exposition.ts";
import { exponentialBounds, Histogram } from "./histogram.ts";
import { Counters, Histograms } from "./vectors.ts";

interface AuthorizationMetrics extends AuthorizationObserver {
  collect(): Metric[];
}

const attemptBounds = exponentialBounds(0.001, 2, 15);
const webhookBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/**
 * @returns an observer with its metrics; the number of series is bounded by the number of
 *   configured authorizers
 */
export function authorizationMetrics(): AuthorizationMetrics {
  const attempts = new Map<string, Attempts>();
  const decisions = new Map<
    string,
    { readonly type: string; readonly name: string; readonly counts: DecisionCounts }
  >();
  const calls = new Counters();
  const durations = new Histograms(webhookBounds);
  const failedOpen = new Counters();
  const conditions = new Histograms(conditionBounds);
  const excluded = new Counters();
  const failed = new Counters();
  return {
    attempted(decision, durationMs) {
      const result = resultOf(decision);
      let series = attempts.get(result);
      if (series === undefined) {
        series = { count: 0, durations: new Histogram(attemptBounds) };
        attempts.set(result, series);
      }
      series.count++;
      series.durations.observe(durationMs / 1000);
    },
    decisions(type, name) {
      const key = `${type}/${name}`;
      const entry = decisions.get(key) ?? { type, name, counts: { allowed: 0, denied: 0 } };
      decisions.set(key, entry);
      return entry.counts;
    },
    webhookCalled(name, result, durationMs) {
      const labels = formatLabels(["name", "result"], [name, result]);
      calls.count(labels);
      durations.observe(labels, durationMs / 1000);
    },
    webhookFailedOpen: (name, result) => failedOpen.count(formatLabels(["name", "result"], [name, result])),
    conditionsEvaluated(name, outcome, durationMs) {
      const labels = formatLabels(["name", "type"], [name, "Webhook"]);
      conditions.observe(labels, durationMs / 1000);
      if (outcome === "excluded") excluded.count(labels);
      if (outcome === "failed") failed.count(labels);
    },
    collect: () => [
      ...attemptMetrics(attempts),
      ...evaluationMetrics({
        decisions: decisions.values(),
        calls,
        durations,
        failedOpen,
        conditions,
        excluded,
        failed,
      }),
    ],
  };
}

function resultOf({ decision, error }: Decision): string {
  if (decision === "allow") return "allowed";
  if (error !== undefined) return "error";
  return decision === "deny" ? "denied" : "no-opinion";
}

interface Evaluations {
  readonly decisions: Iterable<{ readonly type: string; readonly name: string; readonly counts: DecisionCounts }>;
  readonly calls: Counters;
  readonly durations: Histograms;
  readonly failedOpen: Counters;
  readonly conditions: Histograms;
  readonly excluded: Counters;
  readonly failed: Counters;
}

function evaluationMetrics({
  decisions,
  calls,
  durations,
  failedOpen,
  conditions,
  excluded,
  failed,
}: Evaluations): Metric[] {
  return [
    metric("decisions_total", "counter", "Requests allowed or denied by each authorizer.", decisionSamples(decisions)),
    metric("webhook_evaluations_total", "counter", "Calls of authorization webhooks.", calls.samples()),
    metric(
      "webhook_duration_seconds",
      "histogram",
      "Duration of authorization webhook calls in seconds.",
      durations.samples(),
    ),
    metric(
      "webhook_evaluations_fail_open_total",
      "counter",
      "Failed webhook calls after which the next authorizer decided.",
      failedOpen.samples(),
    ),
    metric(
      "match_condition_evaluation_seconds",
      "histogram",
      "Duration of the evaluation of match conditions in seconds.",
      conditions.samples(),
    ),
    metric(
      "match_condition_exclusions_total",
      "counter",
      "Requests excluded from a webhook by its match conditions.",
      excluded.samples(),
    ),
    metric(
      "match_condition_evaluation_errors_total",
      "counter",
      "Requests with an evaluation error in match conditions.",
      failed.samples(),
    ),
  ];
}

interface Attempts {
  count: number;
  readonly durations: Histogram;
}

function attemptMetrics(attempts: ReadonlyMap<string, Attempts>): Metric[] {
  const label = (result: string): string => formatLabels(["result"], [result]);
  const counts = [...attempts].map(
    ([result, { count }]): Sample => ({ suffix: "", labels: label(result), value: count }),
  );
  const durations = [...attempts].flatMap(([result, series]) => [...series.durations.samples(label(result))]);
  const stability = "ALPHA";
  return [
    {
      name: "authorization_attempts_total",
      type: "counter",
      stability,
      help: "Authorization attempts by result.",
      samples: counts,
    },
    {
      name: "authorization_duration_seconds",
      type: "histogram",
      stability,
      help: "Duration of authorization in seconds, by result.",
      samples: durations,
    },
  ];
}

function metric(name: string, type: MetricType, help: string, samples: Sample[]): Metric {
  return { name: `apiserver_authorization_${name}`, type, stability: "ALPHA", help, samples };
}

function decisionSamples(
  all: Iterable<{ readonly type: string; readonly name: string; readonly counts: DecisionCounts }>,
): Sample[] {
  return [...all].flatMap(({ type, name, counts }) =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([decision, value]) => ({
        suffix: "",
        labels: formatLabels(["decision", "name", "type"], [decision, name, type]),
        value,
      })),
  );
}
