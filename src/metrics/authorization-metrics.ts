/**
 * The metrics of authorization.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authorization/metrics/metrics.go and
 * pkg/authorization/cel/metrics.go.
 */
import type { AuthorizationObserver, Decision, DecisionCounts } from "../authorization/contract.ts";
import type { Metric } from "./exposition.ts";
import { exponentialBounds } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms, measured } from "./vectors.ts";

export const authorizationRows = {
  attempts: {
    name: "authorization_attempts_total",
    type: "counter",
    stability: "ALPHA",
    help: "Authorization attempts by result.",
    labels: ["result"],
  },
  durations: {
    name: "authorization_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of authorization in seconds, by result.",
    labels: ["result"],
    buckets: exponentialBounds(0.001, 2, 15),
  },
  decisions: {
    name: "apiserver_authorization_decisions_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests allowed or denied by each authorizer.",
    labels: ["decision", "name", "type"],
  },
  calls: {
    name: "apiserver_authorization_webhook_evaluations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Calls of authorization webhooks.",
    labels: ["name", "result"],
  },
  callDurations: {
    name: "apiserver_authorization_webhook_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of authorization webhook calls in seconds.",
    labels: ["name", "result"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  failedOpen: {
    name: "apiserver_authorization_webhook_evaluations_fail_open_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failed webhook calls after which the next authorizer decided.",
    labels: ["name", "result"],
  },
  conditions: {
    name: "apiserver_authorization_match_condition_evaluation_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of the evaluation of match conditions in seconds.",
    labels: ["name", "type"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  },
  excluded: {
    name: "apiserver_authorization_match_condition_exclusions_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests excluded from a webhook by its match conditions.",
    labels: ["name", "type"],
  },
  failed: {
    name: "apiserver_authorization_match_condition_evaluation_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests with an evaluation error in match conditions.",
    labels: ["name", "type"],
  },
} as const satisfies MetricRows;

interface AuthorizationMetrics extends AuthorizationObserver {
  collect(): Metric[];
}

/**
 * @returns an observer with its metrics; the number of series is bounded by the number of
 *   configured authorizers
 */
export function authorizationMetrics(): AuthorizationMetrics {
  const attempts = new Counters(authorizationRows.attempts);
  const durations = new Histograms(authorizationRows.durations);
  const decisions = new Map<string, Decided>();
  const calls = new Counters(authorizationRows.calls);
  const callDurations = new Histograms(authorizationRows.callDurations);
  const failedOpen = new Counters(authorizationRows.failedOpen);
  const conditions = new Histograms(authorizationRows.conditions);
  const excluded = new Counters(authorizationRows.excluded);
  const failed = new Counters(authorizationRows.failed);
  return {
    attempted(outcome, durationMs) {
      const result = resultOf(outcome);
      attempts.count([result]);
      durations.observe([result], durationMs / 1000);
    },
    decisions(type, name) {
      const key = `${type}/${name}`;
      const entry = decisions.get(key) ?? { type, name, counts: { allowed: 0, denied: 0 } };
      decisions.set(key, entry);
      return entry.counts;
    },
    webhookCalled(name, result, durationMs) {
      calls.count([name, result]);
      callDurations.observe([name, result], durationMs / 1000);
    },
    webhookFailedOpen: (name, result) => failedOpen.count([name, result]),
    conditionsEvaluated(name, outcome, durationMs) {
      const labels = [name, "Webhook"] as const;
      conditions.observe(labels, durationMs / 1000);
      if (outcome === "excluded") excluded.count(labels);
      if (outcome === "failed") failed.count(labels);
    },
    collect: () => [
      attempts.metric(),
      durations.metric(),
      decisionMetric(decisions.values()),
      ...[calls, callDurations, failedOpen, conditions, excluded, failed].map((one) => one.metric()),
    ],
  };
}

/** What an authorizer has decided. */
interface Decided {
  readonly type: string;
  readonly name: string;
  readonly counts: DecisionCounts;
}

function resultOf({ decision, error }: Decision): string {
  if (decision === "allow") return "allowed";
  if (error !== undefined) return "error";
  return decision === "deny" ? "denied" : "no-opinion";
}

function decisionMetric(all: Iterable<Decided>): Metric {
  return measured(
    authorizationRows.decisions,
    [...all].flatMap(({ type, name, counts }) =>
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([decision, count]) => [[decision, name, type], count] as const),
    ),
  );
}
