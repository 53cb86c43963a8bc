/**
 * PodGroup: pods that are scheduled together.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/scheduling`, `k8s.io/kubernetes@v1.36.0/pkg/registry/scheduling/podgroup`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { identical } from "../../lib/json/values.ts";
import { text } from "../column.ts";
import { items, keepMetaForStatus, type Part, struct } from "../fields.ts";
import {
  enforcedRules,
  longName,
  orAbsent,
  shortName,
  validateClaimCount,
  validateClaimStatuses,
  validateGroup,
  validateText,
  validateUnion,
} from "./pod-group-rules.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const podGroupColumns: readonly Column[] = [
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

/** The strategy of PodGroup. */
export const podGroup = strategy({
  columns: podGroupColumns,
  setDefaults: setModeDefault,
  // While its gate is off, the field is removed before it is stored.
  setStoredDefaults: setModeDefault,
  prepareForStatusUpdate(next, old, { gates }) {
    keepMetaForStatus(next, old);
    const usesClaims = items(old.spec?.resourceClaims).length > 0;
    if (!usesClaims && !gates.enabled("DRAWorkloadResourceClaims")) delete next.status?.resourceClaimStatuses;
  },
  declarative: { ...enforcedRules, subresources: ["status"] },
  validate({ spec = {} }: KubeObject, errors) {
    if (spec.podGroupTemplateRef !== undefined)
      validateTemplateReference(spec.podGroupTemplateRef, "spec.podGroupTemplateRef", errors);
    validateGroup(spec, "spec", errors);
  },
  validateUpdate(next, old, errors) {
    for (const field of fixedFields) {
      if (!identical(orAbsent(next.spec?.[field]), orAbsent(old.spec?.[field])))
        errors.covered("immutable").invalid(`spec.${field}`, null, "field is immutable");
      if (field === "resourceClaims")
        validateClaimCount(items(next.spec?.resourceClaims), "spec.resourceClaims", errors);
    }
  },
  validateStatusUpdate(next, _old, errors) {
    validateConditions(items(next.status?.conditions), "status.conditions", errors);
    const statuses = items(next.status?.resourceClaimStatuses);
    const path = "status.resourceClaimStatuses";
    const claims = new Set(items(next.spec?.resourceClaims).map(({ name }) => name));
    for (const [index, { name = "" }] of statuses.entries()) {
      if (!claims.has(name))
        errors.invalid(`${path}[${index}].name`, name, "must match the name of an entry in `spec.resourceClaims`");
    }
    validateClaimStatuses(statuses, path, errors);
  },
});

function setModeDefault(object: KubeObject): void {
  struct(object, "spec").disruptionMode ??= "Pod"; // Also without a spec.
}

const fixedFields = [
  "podGroupTemplateRef",
  "schedulingPolicy",
  "schedulingConstraints",
  "resourceClaims",
  "disruptionMode",
  "priorityClassName",
  "priority",
];

function validateTemplateReference(reference: Part, path: string, errors: FieldErrors): void {
  validateUnion(reference, ["workload"], path, errors);
  if (reference.workload === undefined) return;
  const { workloadName = "", podGroupTemplateName = "" } = reference.workload;
  validateText(workloadName, `${path}.workload.workloadName`, longName, errors);
  validateText(podGroupTemplateName, `${path}.workload.podGroupTemplateName`, shortName, errors);
}

/** The last condition of the type. */
function podGroupStatus({ status }: KubeObject): string {
  const conditions = items(status?.conditions);
  const disruption = conditions.findLast(({ type }) => type === "DisruptionTarget");
  if (disruption !== undefined) return disruption.reason ?? "";
  const scheduled = conditions.findLast(({ type }) => type === "PodGroupScheduled");
  if (scheduled === undefined) return "Pending";
  return scheduled.status === "True" ? "Scheduled" : "Unschedulable";
}
