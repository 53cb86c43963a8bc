/**
 * The metrics of health checks, for `/metrics/slis`.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/slis/metrics.go.
 */
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

/** Records results of health checks. */
export interface HealthMetrics {
  /** @param name the check @param type the endpoint, such as `livez` */
  observe(name: string, type: string, ok: boolean): void;
  collect(): Metric[];
}

interface Results {
  last: number;
  readonly counts: { success: number; error: number };
}

/** @returns empty metrics; the number of series is the number of checks of all endpoints */
export function healthMetrics(): HealthMetrics {
  const all = new Map<string, Results>();
  return {
    observe(name, type, ok) {
      const labels = formatLabels(["name", "type"], [name, type]);
      const results = all.get(labels) ?? { last: 0, counts: { success: 0, error: 0 } };
      all.set(labels, results);
      results.last = ok ? 1 : 0;
      results.counts[ok ? "success" : "error"]++;
    },
    collect() {
      const last = [...all].map(([labels, results]): Sample => ({ suffix: "", labels, value: results.last }));
      const counts = [...all].flatMap(([labels, results]) =>
        Object.entries(results.counts)
          .filter(([, value]) => value > 0)
          .map(
            ([status, value]): Sample => ({
              suffix: "",
              labels: `${labels},${formatLabels(["status"], [status])}`,
              value,
            }),
          ),
      );
      return [
        {
          name: "kubernetes_healthcheck",
          type: "gauge",
          stability: "STABLE",
          help: "The last result of each health check: 1 when it passed.",
          samples: last,
        },
        {
          name: "kubernetes_healthchecks_total",
          type: "counter",
          stability: "STABLE",
          help: "Results of health checks.",
          samples: counts,
        },
      ];
    },
  };
}
