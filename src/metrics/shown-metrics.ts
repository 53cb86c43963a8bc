/** Which of the metrics are shown, in what words, and metrics about that. Source: component-base's metrics registry and options. */
import type { Logger } from "../apimachinery/logger.ts";
import type { MetricsOptions } from "./contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { constrainLabels, type LabelAllowList, labelAllowList } from "./label-allow-list.ts";
import { isDeprecated, isHidden } from "./life-cycle.ts";

/** @returns what is shown of all metrics, the metrics about them among it */
export type ShowMetrics = (all: readonly Metric[]) => Metric[];

/**
 * Tells the log of deprecated metrics, once each, when they are there.
 * @param allowLabels as checkMetricsOptions returns it
 */
export function shownMetrics(
  options: MetricsOptions,
  allowLabels: ReadonlyMap<string, string>,
  logger: Logger,
): ShowMetrics {
  const disabled = new Set(options.disabled);
  const showHidden = options.showHiddenForVersion !== "";
  const allowList: LabelAllowList = labelAllowList(allowLabels);
  const told = new Set<string>();
  const tell = (metric: Metric): void => {
    if (!isDeprecated(metric) || metric.samples.length === 0 || told.has(metric.name)) return;
    told.add(metric.name);
    if (isHidden(metric))
      logger.warn(
        `Hidden metrics (${metric.name}) have been manually overridden, showing this very deprecated metric.`,
      );
    else
      logger.warn(
        `Metric ${metric.name} is deprecated since ${metric.deprecatedSince}; it will be hidden in a future release`,
      );
  };
  return (all) => {
    const enabled = all.filter(({ name }) => !disabled.has(name));
    const visible = enabled.filter((metric) => showHidden || !isHidden(metric));
    const constrained = visible.map((metric) => constrainLabels(metric, allowList));
    for (const { metric } of constrained) tell(metric);
    const unexpected = constrained.reduce((sum, one) => sum + one.unexpected, 0);
    const hidden = all.length - enabled.length + (enabled.length - visible.length);
    const meta = metaMetrics(visible, { disabled: disabled.size, hidden, unexpected }).filter(
      ({ name }) => !disabled.has(name),
    );
    return [...constrained.map(({ metric }) => metric), ...meta];
  };
}

interface MetaCounts {
  readonly disabled: number;
  readonly hidden: number;
  readonly unexpected: number;
}

function metaMetrics(visible: readonly Metric[], { disabled, hidden, unexpected }: MetaCounts): Metric[] {
  const one = (name: string, stability: "ALPHA" | "BETA", help: string, value: number): Metric => ({
    name,
    type: "counter",
    stability,
    help,
    samples: [{ suffix: "", labels: "", value }],
  });
  return [
    one("disabled_metrics_total", "BETA", "Metrics that are disabled.", disabled),
    one("hidden_metrics_total", "BETA", "Metrics that are hidden.", hidden),
    one(
      "cardinality_enforcement_unexpected_categorizations_total",
      "ALPHA",
      "What was counted under values of labels that are not allowed.",
      unexpected,
    ),
    registeredMetrics(visible),
  ];
}

function registeredMetrics(visible: readonly Metric[]): Metric {
  const counts = new Map<string, number>();
  for (const { stability, deprecatedSince = "" } of visible) {
    if (stability === undefined) continue;
    const labels = formatLabels(["stability_level", "deprecated_version"], [stability, deprecatedSince]);
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
  }
  const samples = [...counts].map(([labels, value]) => ({ suffix: "", labels, value }));
  return {
    name: "registered_metrics_total",
    type: "counter",
    stability: "BETA",
    help: "Metrics there are, by stability and the release that deprecates them.",
    samples,
  };
}
