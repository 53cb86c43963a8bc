/** The Prometheus text format, version 0.0.4. */
import { formatGoFloat } from "../lib/json/go-value.ts";
import { helpPrefix, type LifeCycle } from "./life-cycle.ts";

/** The types of metrics. */
export type MetricType = "counter" | "gauge" | "histogram" | "summary";

/** One value of a metric. */
export interface Sample {
  /** The suffix of the metric name: empty, `_bucket`, `_sum` or `_count`. */
  readonly suffix: string;
  /** The encoded label pairs, see {@link formatLabels}; empty without labels. */
  readonly labels: string;
  readonly value: number;
}

/** A metric with its current samples. */
export interface Metric extends LifeCycle {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** The media type of the format. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/** Encodes metrics; omits those without samples. */
export function formatMetrics(metrics: Iterable<Metric>): string {
  const lines: string[] = [];
  for (const metric of metrics) {
    const { name, type, help, samples } = metric;
    if (samples.length === 0) continue;
    lines.push(`# HELP ${name} ${helpPrefix(metric)}${help}\n# TYPE ${name} ${type}\n`);
    for (const { suffix, labels, value } of samples)
      lines.push(`${name}${suffix}${labels === "" ? "" : `{${labels}}`} ${formatGoFloat(value)}\n`);
  }
  return lines.join("");
}

/** Encodes label pairs, without braces. */
export function formatLabels(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabel(values[index] ?? "")}"`).join(",");
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
