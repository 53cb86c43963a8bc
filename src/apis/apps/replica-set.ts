/**
 * ReplicaSet.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/apps/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/apps/replicaset/strategy.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import { workloadCells } from "../column.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { setTemplateDefaults, templateOptions } from "../core/pod/workload-template.ts";
import { type Part, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import {
  blankReplicated,
  checkAtMost,
  checkCounts,
  checkSelectorUnchanged,
  replicatedWarnings,
  validateReplicated,
} from "../workload.ts";
import { replicaSetColumns } from "./columns.ts";

/** The noun is `deployment` in upstream's texts of this kind too. */
const rules = { noun: "deployment", unusableText: "invalid label selector", templateNoun: "ReplicaSet" };

/** Defaults and validates ReplicaSets; the selector is immutable. */
export const replicaSet = strategy({
  columns: replicaSetColumns,
  cellPaths: workloadCells,
  hasGeneration: true,
  blank: blankReplicated,
  scale: workloadScale,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1 });
    setTemplateDefaults(spec);
  },
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  validate: (object, errors, context) => validate(object, templateOptions(context), errors),
  validateUpdate(next, old, errors, context) {
    validate(next, templateOptions(context, old.spec.template), errors);
    checkSelectorUnchanged(next, old, errors);
  },
  dropsDisabledStatus: true,
  validateStatusUpdate: (next, _old, errors) => validateStatus(next.status ?? {}, errors),
  warnings: replicatedWarnings,
});

function validate(object: KubeObject, options: PodOptions, errors: FieldErrors): void {
  checkCounts(object.spec, "spec", ["replicas", "minReadySeconds"], errors);
  validateReplicated(object, rules, options, errors);
}

function validateStatus(status: Part, errors: FieldErrors): void {
  const fields = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  checkCounts(status, "status", ["replicas", ...fields, "observedGeneration", "terminatingReplicas"], errors);
  checkAtMost(status, "status", { fields, of: "replicas", name: "status.replicas" }, errors);
  checkAtMost(status, "status", { fields: ["availableReplicas"], of: "readyReplicas", name: "readyReplicas" }, errors);
}
