/**
 * ReplicationController: its selector is a plain map, by default the labels of its template.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/replicationcontroller/strategy.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { longNameProblems } from "../../lib/names/names.ts";
import { containerColumns, formatLabels, integer, text, wide, workloadCells } from "../column.ts";
import { type Part, selectable, setAbsent, struct } from "../fields.ts";
import { byName, formatLabelSelector, selects } from "../label-selector.ts";
import { scaleWith } from "../scale.ts";
import { checkAtMost, checkCounts, checkTemplateRuns, podNameWarnings, takeTemplateLabels } from "../workload.ts";
import type { PodOptions } from "./pod/options.ts";
import { templateWarnings } from "./pod/warnings.ts";
import { setTemplateDefaults, templateOptions, validateTemplate } from "./pod/workload-template.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const replicationControllerColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Desired",
    "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller",
    ({ spec }) => spec?.replicas ?? 0,
  ),
  integer(
    "Current",
    "Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller",
    ({ status }) => status?.replicas ?? 0,
  ),
  integer(
    "Ready",
    "The number of ready replicas for this replication controller.",
    ({ status }) => status?.readyReplicas ?? 0,
  ),
  ageColumn,
  ...containerColumns(({ spec }) => spec?.template?.spec),
  wide(
    text(
      "Selector",
      "Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is defaulted to the labels present on the Pod template. Label keys and values that must match in order to be controlled by this replication controller, if empty defaulted to labels on Pod template. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
      ({ spec }) => formatLabels(spec?.selector),
    ),
  ),
];

/** Strategy of `replicationcontrollers`. */
export const replicationController = strategy({
  columns: replicationControllerColumns,
  cellPaths: workloadCells,
  hasGeneration: true,
  validateName: (name, prefix) => (prefix ? [] : longNameProblems(name)), // Upstream checks the generated name.
  declarative: { subresources: ["scale"], nameOrigin: "format=k8s-long-name" },
  orphansByDefault: { warning: undefined },
  scale: scaleWith((spec) => formatLabelSelector({ matchLabels: spec.selector })),
  selectableFields: { "status.replicas": (object) => selectable("status.replicas")(object) || "0" },
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1 });
    if (!spec.template) return;
    setTemplateDefaults(spec);
    const labels = spec.template.metadata?.labels;
    if (!labels) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    takeTemplateLabels(object);
  },
  setStoredDefaults: takeTemplateLabels, // A write of the status may omit the labels.
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  validate: (object, errors, context) => validate(object, templateOptions(context), errors),
  validateUpdate: (next, old, errors, context) => validate(next, templateOptions(context, old.spec.template), errors),
  validateStatusUpdate: (next, _old, errors) => validateStatus(next.status ?? {}, errors),
  warnings(object, old) {
    if (object.metadata.generation === old?.metadata.generation) return [];
    return [...podNameWarnings(object, old), ...templateWarnings(object.spec.template, "spec.template")];
  },
});

function validate(object: KubeObject, options: PodOptions, errors: FieldErrors): void {
  const { selector, template } = object.spec;
  const isEmpty = Object.keys(selector ?? {}).length === 0;
  checkCounts(object.spec, "spec", ["minReadySeconds"], errors.covered("minimum"));
  if (isEmpty) errors.required("spec.selector");
  checkCounts(object.spec, "spec", ["replicas"], errors.covered("minimum"));
  if (!template) return errors.required("spec.template");
  const labels = template.metadata?.labels ?? null;
  if (!isEmpty && !selects({ matchLabels: selector }, labels ?? {})) {
    errors.invalid(
      "spec.template.metadata.labels",
      labels && byName(labels),
      "`selector` does not match template `labels`",
    );
  }
  validateTemplate(template, "spec.template", errors, options);
  checkTemplateRuns(object, { templateNoun: "ReplicationController" }, errors);
}

function validateStatus(status: Part, errors: FieldErrors): void {
  const fields = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  checkCounts(status, "status", ["replicas", ...fields, "observedGeneration"], errors);
  checkAtMost(status, "status", { fields, of: "replicas", name: "status.replicas" }, errors);
  checkAtMost(status, "status", { fields: ["availableReplicas"], of: "readyReplicas", name: "readyReplicas" }, errors);
}
