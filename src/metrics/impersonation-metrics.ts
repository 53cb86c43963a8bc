/**
 * The metrics of impersonation.
 * Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/impersonation/metrics/metrics.go.
 */
import type { ImpersonationObserver } from "../authorization/impersonation/contract.ts";
import { formatLabels, type Metric, type MetricType, type Sample } from "./exposition.ts";
import { exponentialBounds } from "./histogram.ts";
import { Counters, Histograms } from "./vectors.ts";

interface ImpersonationMetrics extends ImpersonationObserver {
  collect(): Metric[];
}

const bounds = exponentialBounds(0.001, 2, 15);

/** @returns empty metrics */
export function impersonationMetrics(): ImpersonationMetrics {
  const attempts = { counts: new Counters(), durations: new Histograms(bounds) };
  const checks = { counts: new Counters(), durations: new Histograms(bounds) };
  const recorder =
    ({ counts, durations }: typeof attempts) =>
    (mode: string, allowed: boolean, seconds: number): void => {
      const labels = formatLabels(["mode", "decision"], [mode, allowed ? "allowed" : "denied"]);
      counts.count(labels);
      durations.observe(labels, seconds);
    };
  return {
    attempted: recorder(attempts),
    authorized: recorder(checks),
    collect: () => [
      metric("attempts_total", "counter", "Impersonation attempts.", attempts.counts.samples()),
      metric(
        "attempts_duration_seconds",
        "histogram",
        "Duration of the authorization of impersonation attempts in seconds.",
        attempts.durations.samples(),
      ),
      metric(
        "authorization_attempts_total",
        "counter",
        "Authorization checks of impersonation attempts.",
        checks.counts.samples(),
      ),
      metric(
        "authorization_attempts_duration_seconds",
        "histogram",
        "Duration of authorization checks of impersonation attempts in seconds.",
        checks.durations.samples(),
      ),
    ],
  };
}

function metric(name: string, type: MetricType, help: string, samples: Sample[]): Metric {
  return { name: `apiserver_impersonation_${name}`, type, stability: "ALPHA", help, samples };
}
