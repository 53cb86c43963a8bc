import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { distributed, newHistogram } from "./vectors.ts";

export const eventLoopRows = {
  blocked: {
    name: "coxswain_event_loop_blocked_seconds",
    type: "histogram",
    stability: undefined,
    help: "Times of more than 250 ms in which the event loop served no other request.",
    buckets: [0.25, 0.5, 1, 2, 5, 10, 30],
  },
} as const satisfies MetricRows;

/** The blocks of the event loop; kube-apiserver, which has threads, has no such metric. */
export interface EventLoopMetric {
  blocked(seconds: number): void;
  collect(): Metric[];
}

/** @returns a metric without blocks */
export function eventLoopMetric(): EventLoopMetric {
  const histogram = newHistogram(eventLoopRows.blocked);
  return {
    blocked: (seconds) => histogram.observe(seconds),
    collect: () => [distributed(eventLoopRows.blocked, [[[], histogram]])],
  };
}
