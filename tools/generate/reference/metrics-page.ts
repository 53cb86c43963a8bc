/** docs/reference/metrics.md: the metrics, as the server registers them. */
import { metricRows } from "../../../src/metrics/all-rows.ts";
import { isHidden } from "../../../src/metrics/life-cycle.ts";
import type { MetricRow } from "../../../src/metrics/metric-row.ts";
import { code, generatedNote, prose, table } from "./markdown.ts";

const introduction = `The metrics of \`/metrics\` and \`/metrics/slis\`, with upstream's names, types, stabilities, labels and buckets; the meaning is in our words. A metric without a
stability belongs to no part of Kubernetes. Metrics whose stability is followed by *hidden* are shown with \`--show-hidden-metrics-for-version\`.`;

export function metricsPage(): string {
  const rows = [...metricRows].sort((a, b) => (a.name < b.name ? -1 : 1)).map(cellsOf);
  const all = table(["metric", "type", "stability", "labels", "meaning"], rows);
  return ["# Metrics\n", `${generatedNote}\n`, `${introduction}\n`, all].join("\n");
}

function cellsOf(row: MetricRow): string[] {
  const { name, type, stability, deprecatedSince, help, labels = [] } = row;
  const since = deprecatedSince === undefined ? "" : `, deprecated since ${deprecatedSince}`;
  const hidden = isHidden(row) ? ", hidden" : "";
  return [code(name), type, `${stability ?? ""}${since}${hidden}`, labels.map(code).join(", "), prose(help)];
}
