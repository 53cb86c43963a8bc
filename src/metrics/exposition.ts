/** The text format that Prometheus reads, version 0.0.4. */
import { helpPrefix } from "./life-cycle.ts";

export type MetricType = "counter" | "gauge" | "histogram";
/** How far a name may be relied on. Source: Kubernetes' metric life cycle. */
export type Stability = "ALPHA" | "BETA" | "STABLE";

export interface Sample {
  /** What follows the metric's name: nothing, `_bucket`, `_sum`, `_count`. */
  readonly suffix: string;
  /** Label pairs as written between the braces; empty for none. */
  readonly labels: string;
  readonly value: number;
}

export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  /** Undefined for metrics that are not Kubernetes' own, such as `process_*`. */
  readonly stability: Stability | undefined;
  /** The release that deprecates it, such as `1.34.0`. */
  readonly deprecatedSince?: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

export function formatMetrics(metrics: Iterable<Metric>): string {
  const lines: string[] = [];
  for (const metric of metrics) {
    const { name, type, help, samples } = metric;
    if (samples.length === 0) continue;
    lines.push(`# HELP ${name} ${helpPrefix(metric)}${help}\n# TYPE ${name} ${type}\n`);
    for (const { suffix, labels, value } of samples)
      lines.push(`${name}${suffix}${labels === "" ? "" : `{${labels}}`} ${formatNumber(value)}\n`);
  }
  return lines.join("");
}

export function formatLabels(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabel(values[index] ?? "")}"`).join(",");
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

/** As Go writes a float in its shortest form: `1e+06` from a million on. */
export function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}
