/**
 * Selects the metrics that are shown, and adds metrics about them.
 * Source: k8s.io/component-base@v0.36.0/metrics/registry.go.
 */
import type { Logger } from "../apimachinery/logger.ts";
import type { MetricsOptions } from "./contract.ts";
import type { Metric } from "./exposition.ts";
import { constrainLabels, type LabelAllowList, labelAllowList } from "./label-allow-list.ts";
import { isDeprecated, isHidden } from "./life-cycle.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, single } from "./vectors.ts";

export const shownRows = {
  disabled: {
    name: "disabled_metrics_total",
    type: "counter",
    stability: "BETA",
    help: "Metrics that are disabled.",
  },
  hidden: {
    name: "hidden_metrics_total",
    type: "counter",
    stability: "BETA",
    help: "Metrics that are hidden.",
  },
  unexpected: {
    name: "cardinality_enforcement_unexpected_categorizations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Sum of samples whose label values are not allowed.",
  },
  registered: {
    name: "registered_metrics_total",
    type: "counter",
    stability: "BETA",
    help: "Registered metrics by stability and the release that deprecates them.",
    labels: ["stability_level", "deprecated_version"],
  },
} as const satisfies MetricRows;

/** Selects the visible metrics. @returns them together with metrics about them */
export type ShowMetrics = (all: readonly Metric[]) => Metric[];

/**
 * Creates the selection. It logs each deprecated metric once, when it has samples.
 *
 * @param allowLabels the result of `checkMetricsOptions`
 */
export function shownMetrics(
  options: MetricsOptions,
  allowLabels: ReadonlyMap<string, string>,
  logger: Logger,
): ShowMetrics {
  const disabled = new Set(options.disabled);
  const showHidden = options.showHiddenForVersion !== "";
  const allowList: LabelAllowList = labelAllowList(allowLabels);
  const logged = new Set<string>();
  const logDeprecated = (metric: Metric): void => {
    if (!isDeprecated(metric) || metric.samples.length === 0 || logged.has(metric.name)) return;
    logged.add(metric.name);
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
    for (const { metric } of constrained) logDeprecated(metric);
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
  const registered = new Counters(shownRows.registered);
  for (const { stability, deprecatedSince = "" } of visible)
    if (stability !== undefined) registered.count([stability, deprecatedSince]);
  return [
    single(shownRows.disabled, disabled),
    single(shownRows.hidden, hidden),
    single(shownRows.unexpected, unexpected),
    registered.metric(),
  ];
}
