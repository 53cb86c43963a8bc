/**
 * The metrics of health checks, for `/metrics/slis`.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/slis/metrics.go.
 */
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

export const healthRows = {
  last: {
    name: "kubernetes_healthcheck",
    type: "gauge",
    stability: "STABLE",
    help: "The last result of each health check: 1 when it passed.",
    labels: ["name", "type"],
  },
  counts: {
    name: "kubernetes_healthchecks_total",
    type: "counter",
    stability: "STABLE",
    help: "Results of health checks.",
    labels: ["name", "type", "status"],
  },
} as const satisfies MetricRows;

/** Records results of health checks. */
export interface HealthMetrics {
  /** @param name the check @param type the endpoint, such as `livez` */
  observe(name: string, type: string, ok: boolean): void;
  collect(): Metric[];
}

interface Results {
  readonly name: string;
  readonly type: string;
  last: number;
  readonly counts: { success: number; error: number };
}

/** @returns empty metrics; the number of series is the number of checks of all endpoints */
export function healthMetrics(): HealthMetrics {
  const all = new Map<string, Results>();
  return {
    observe(name, type, ok) {
      const key = `${type}/${name}`;
      const results = all.get(key) ?? { name, type, last: 0, counts: { success: 0, error: 0 } };
      all.set(key, results);
      results.last = ok ? 1 : 0;
      results.counts[ok ? "success" : "error"]++;
    },
    collect: () => [
      measured(
        healthRows.last,
        Array.from(all.values(), ({ name, type, last }) => [[name, type], last] as const),
      ),
      measured(
        healthRows.counts,
        [...all.values()].flatMap(({ name, type, counts }) =>
          Object.entries(counts)
            .filter(([, count]) => count > 0)
            .map(([status, count]) => [[name, type, status], count] as const),
        ),
      ),
    ],
  };
}
