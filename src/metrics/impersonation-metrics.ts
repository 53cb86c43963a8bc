/**
 * The metrics of impersonation.
 * Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/impersonation/metrics/metrics.go.
 */
import type { ImpersonationObserver } from "../authorization/impersonation/contract.ts";
import type { Metric } from "./exposition.ts";
import { exponentialBounds } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms } from "./vectors.ts";

const labels = ["mode", "decision"] as const;
const buckets = exponentialBounds(0.001, 2, 15);

export const impersonationRows = {
  attempts: {
    name: "apiserver_impersonation_attempts_total",
    type: "counter",
    stability: "ALPHA",
    help: "Impersonation attempts.",
    labels,
  },
  attemptDurations: {
    name: "apiserver_impersonation_attempts_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of the authorization of impersonation attempts in seconds.",
    labels,
    buckets,
  },
  checks: {
    name: "apiserver_impersonation_authorization_attempts_total",
    type: "counter",
    stability: "ALPHA",
    help: "Authorization checks of impersonation attempts.",
    labels,
  },
  checkDurations: {
    name: "apiserver_impersonation_authorization_attempts_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of authorization checks of impersonation attempts in seconds.",
    labels,
    buckets,
  },
} as const satisfies MetricRows;

interface ImpersonationMetrics extends ImpersonationObserver {
  collect(): Metric[];
}

/** @returns empty metrics */
export function impersonationMetrics(): ImpersonationMetrics {
  const attempts = new Counters(impersonationRows.attempts);
  const attemptDurations = new Histograms(impersonationRows.attemptDurations);
  const checks = new Counters(impersonationRows.checks);
  const checkDurations = new Histograms(impersonationRows.checkDurations);
  const decision = (allowed: boolean): string => (allowed ? "allowed" : "denied");
  return {
    attempted(mode, allowed, seconds) {
      attempts.count([mode, decision(allowed)]);
      attemptDurations.observe([mode, decision(allowed)], seconds);
    },
    authorized(mode, allowed, seconds) {
      checks.count([mode, decision(allowed)]);
      checkDurations.observe([mode, decision(allowed)], seconds);
    },
    collect: () => [attempts, attemptDurations, checks, checkDurations].map((one) => one.metric()),
  };
}
