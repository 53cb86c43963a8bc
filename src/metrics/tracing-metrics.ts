/** The metrics of tracing. */
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters } from "./vectors.ts";

export const tracingRows = {
  spans: {
    name: "coxswain_tracing_spans_total",
    type: "counter",
    stability: undefined,
    help: "Recorded spans by outcome: exported, failed because the collector did not accept them, or dropped because too many wait for it.",
    labels: ["outcome"],
  },
} as const satisfies MetricRows;

export function tracingMetrics() {
  const spans = new Counters(tracingRows.spans);
  return {
    ended: (outcome: string, count: number): void => spans.count([outcome], count),
    collect: (): Metric[] => [spans.metric()],
  };
}
