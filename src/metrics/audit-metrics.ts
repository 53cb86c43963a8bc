/** What auditing counts. Source: upstream's audit/metrics.go. */
import type { AuditCounts } from "../audit/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

export function auditMetrics({ events, rejected, levels, errors }: AuditCounts): Metric[] {
  const counter = (name: string, help: string, samples: Sample[]): Metric => ({
    name: `apiserver_audit_${name}`,
    type: "counter",
    stability: "ALPHA",
    help,
    samples,
  });
  return [
    counter("event_total", "Audit events made and handed to where they are written.", [
      { suffix: "", labels: "", value: events },
    ]),
    counter("requests_rejected_total", "Requests refused because they could not be audited.", [
      { suffix: "", labels: "", value: rejected },
    ]),
    counter("level_total", "Requests by the level they are audited at.", samplesOf("level", levels)),
    counter("error_total", "Audit events that were lost, by the plugin that lost them.", samplesOf("plugin", errors)),
  ];
}

function samplesOf(label: string, counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([value, count]) => ({ suffix: "", labels: formatLabels([label], [value]), value: count }));
}
