/** Requests in another's name. Source: apiserver's filters/impersonation/metrics. */
import type { ImpersonationObserver } from "../http/impersonation/contract.ts";
import { formatLabels, type Metric, type MetricType, type Sample } from "./exposition.ts";
import { exponentialBounds } from "./histogram.ts";
import { Counters, Histograms } from "./vectors.ts";

export interface ImpersonationMetrics extends ImpersonationObserver {
  collect(): Metric[];
}

const bounds = exponentialBounds(0.001, 2, 15);

export function impersonationMetrics(): ImpersonationMetrics {
  const attempts = { counts: new Counters(), durations: new Histograms(bounds) };
  const questions = { counts: new Counters(), durations: new Histograms(bounds) };
  const recorder =
    ({ counts, durations }: typeof attempts) =>
    (mode: string, allowed: boolean, seconds: number): void => {
      const labels = formatLabels(["mode", "decision"], [mode, allowed ? "allowed" : "denied"]);
      counts.count(labels);
      durations.observe(labels, seconds);
    };
  return {
    attempted: recorder(attempts),
    asked: recorder(questions),
    collect: () => [
      metric("attempts_total", "counter", "Requests in another's name.", attempts.counts.samples()),
      metric(
        "attempts_duration_seconds",
        "histogram",
        "Seconds it took to find out whether a request in another's name may be made.",
        attempts.durations.samples(),
      ),
      metric(
        "authorization_attempts_total",
        "counter",
        "Questions to the authorizers for that.",
        questions.counts.samples(),
      ),
      metric(
        "authorization_attempts_duration_seconds",
        "histogram",
        "Seconds that their answers took.",
        questions.durations.samples(),
      ),
    ],
  };
}

function metric(name: string, type: MetricType, help: string, samples: Sample[]): Metric {
  return { name: `apiserver_impersonation_${name}`, type, stability: "ALPHA", help, samples };
}
