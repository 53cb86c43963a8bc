/** The metrics of auditing. Source: k8s.io/apiserver@v0.36.0/pkg/audit/metrics.go. */
import type { AuditCounts } from "../audit/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured, single } from "./vectors.ts";

export const auditRows = {
  events: {
    name: "apiserver_audit_event_total",
    type: "counter",
    stability: "ALPHA",
    help: "Audit events that were passed to the backends.",
  },
  rejected: {
    name: "apiserver_audit_requests_rejected_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests rejected because their audit event was lost.",
  },
  levels: {
    name: "apiserver_audit_level_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests by audit level.",
    labels: ["level"],
  },
  errors: {
    name: "apiserver_audit_error_total",
    type: "counter",
    stability: "ALPHA",
    help: "Lost audit events by plugin.",
    labels: ["plugin"],
  },
} as const satisfies MetricRows;

/** @returns the metrics for the current counters */
export function auditMetrics({ events, rejected, levels, errors }: AuditCounts): Metric[] {
  return [
    single(auditRows.events, events),
    single(auditRows.rejected, rejected),
    measured(
      auditRows.levels,
      Array.from(levels, ([level, count]) => [[level], count] as const),
    ),
    measured(
      auditRows.errors,
      Array.from(errors, ([plugin, count]) => [[plugin], count] as const),
    ),
  ];
}
