/** What came of health checks, for `/metrics/slis`. Source: component-base's metrics/prometheus/slis. */
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

export interface HealthMetrics {
  /** @param type the endpoint: `livez` */
  observe(name: string, type: string, ok: boolean): void;
  collect(): Metric[];
}

interface Outcomes {
  last: number;
  readonly counts: { success: number; error: number };
}

/** The series are as many as there are checks under each endpoint. */
export function healthMetrics(): HealthMetrics {
  const all = new Map<string, Outcomes>();
  return {
    observe(name, type, ok) {
      const labels = formatLabels(["name", "type"], [name, type]);
      const outcomes = all.get(labels) ?? { last: 0, counts: { success: 0, error: 0 } };
      all.set(labels, outcomes);
      outcomes.last = ok ? 1 : 0;
      outcomes.counts[ok ? "success" : "error"]++;
    },
    collect() {
      const last = [...all].map(([labels, outcomes]): Sample => ({ suffix: "", labels, value: outcomes.last }));
      const counts = [...all].flatMap(([labels, outcomes]) =>
        Object.entries(outcomes.counts)
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
          help: "What came of each health check last: 1 is well.",
          samples: last,
        },
        {
          name: "kubernetes_healthchecks_total",
          type: "counter",
          stability: "STABLE",
          help: "What came of health checks.",
          samples: counts,
        },
      ];
    },
  };
}
