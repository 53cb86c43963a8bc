/** The metrics of auditing. Source: k8s.io/apiserver@v0.36.0/pkg/audit/metrics.go. */
import type { AuditCounts } from "../audit/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

/** @returns the metrics for the current counters */
export function auditMetrics({ events, rejected, levels, errors }: AuditCounts): Metric[] {
  const counter = (name: string, help: string, samples: Sample[]): Metric => ({
    name: `apiserver_audit_${name}`,
    type: "counter",
    stability: "ALPHA",
    help,
    samples,
  });
  return [
    counter("event_total", "Audit events that were passed to the backends.", [
      { suffix: "", labels: "", value: events },
    ]),
    counter("requests_rejected_total", "Requests rejected because their audit event was lost.", [
      { suffix: "", labels: "", value: rejected },
    ]),
    counter("level_total", "Requests by audit level.", samplesOf("level", levels)),
    counter("error_total", "Lost audit events by plugin.", samplesOf("plugin", errors)),
  ];
}

function samplesOf(label: string, counts: ReadonlyMap<string, number>): Sample[] {
  return [...counts].map(([value, count]) => ({ suffix: "", labels: formatLabels([label], [value]), value: count }));
}
