/** docs/reference/metrics.md: the metrics, as the server registers them. */

import type { Metric } from "../../../src/metrics/exposition.ts";
import { isHidden } from "../../../src/metrics/life-cycle.ts";
import { everyMetric } from "../../../test/support/every-metric.ts";
import { code, generatedNote, prose, table } from "./markdown.ts";

const introduction = `The metrics of \`/metrics\` and \`/metrics/slis\`, with upstream's names, types, stabilities, labels and buckets; the meaning is in our words. A metric without a
stability belongs to no part of Kubernetes. Metrics whose stability is followed by *hidden* are shown with \`--show-hidden-metrics-for-version\`.`;

export async function metricsPage(): Promise<string> {
  const metrics = new Map((await everyMetric()).map((metric) => [metric.name, metric]));
  const rows = [...metrics.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(rowOf);
  const all = table(["metric", "type", "stability", "labels", "meaning"], rows);
  return ["# Metrics\n", `${generatedNote}\n`, `${introduction}\n`, all].join("\n");
}

function rowOf(metric: Metric): string[] {
  const { name, type, stability, deprecatedSince, help } = metric;
  const since = deprecatedSince === undefined ? "" : `, deprecated since ${deprecatedSince}`;
  const hidden = isHidden(metric) ? ", hidden" : "";
  return [code(name), type, `${stability ?? ""}${since}${hidden}`, labelsOf(metric).map(code).join(", "), prose(help)];
}

/** The labels of all samples, except that of buckets. */
function labelsOf({ samples }: Metric): string[] {
  const names = samples.flatMap(({ labels }) =>
    [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name]) => name),
  );
  return [...new Set(names as string[])].filter((name) => name !== "le");
}
