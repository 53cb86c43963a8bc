/**
 * Columns of the scheduling kinds. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { flag, integer, text } from "../column.ts";
import { items } from "../fields.ts";

export const podGroupColumns: readonly Column[] = [
  nameColumn,
  text(
    "Policy",
    "SchedulingPolicy defines the scheduling policy for this instance of the PodGroup. Controllers are expected to fill this field by copying it from a PodGroupTemplate. This field is immutable.",
    ({ spec }) => (spec?.schedulingPolicy?.gang === undefined ? "Basic" : "Gang"),
  ),
  text("Workload", "Name of the referenced Workload object", ({ spec }) =>
    spec?.podGroupTemplateRef === undefined ? "<none>" : (spec.podGroupTemplateRef.workload?.workloadName ?? ""),
  ),
  text("Status", "Status of the PodGroup", podGroupStatus),
  ageColumn,
];

export const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Value",
    "value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.",
    ({ value }) => value ?? 0,
  ),
  flag(
    "Global-Default",
    "globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.",
    ({ globalDefault }) => globalDefault ?? false,
  ),
  ageColumn,
  text(
    "PreemptionPolicy",
    "preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.",
    ({ preemptionPolicy }) => preemptionPolicy ?? "",
  ),
];

/** The last condition of the type. */
function podGroupStatus({ status }: KubeObject): string {
  const conditions = items(status?.conditions);
  const disruption = conditions.findLast(({ type }) => type === "DisruptionTarget");
  if (disruption !== undefined) return disruption.reason ?? "";
  const scheduled = conditions.findLast(({ type }) => type === "PodGroupScheduled");
  if (scheduled === undefined) return "Pending";
  return scheduled.status === "True" ? "Scheduled" : "Unschedulable";
}
