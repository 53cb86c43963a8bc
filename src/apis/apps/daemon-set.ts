/**
 * DaemonSet.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/apps/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/apps/daemonset/strategy.go,
 *         `defaults.go` and `conversion.go` in k8s.io/kubernetes@v1.36.0/pkg/apis/extensions/v1beta1
 */
import { type ApiError, badRequest } from "../../apimachinery/errors.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { addIntegers, deepEqual, type Integer } from "../../lib/json/values.ts";
import { workloadCells } from "../column.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { templateWarnings } from "../core/pod/warnings.ts";
import { setTemplateDefaults, templateOptions, validateTemplate } from "../core/pod/workload-template.ts";
import { type Part, setAbsent, struct } from "../fields.ts";
import { isEmptySelector, shownSelector, validateLabelSelector } from "../label-selector.ts";
import {
  checkCollisionCount,
  checkCounts,
  checkSelected,
  checkSelectorUnchanged,
  checkTemplateRuns,
} from "../workload.ts";
import { daemonSetColumns } from "./columns.ts";
import { annotatedInteger, annotateInteger } from "./field-annotation.ts";
import { rollingUpdateInGo, setRollingUpdateDefaults, validateDaemonSetRollingUpdate } from "./rolling-update.ts";

/**
 * Counts the changes of the pod template. It replaces the removed field `spec.templateGeneration`.
 */
const generationAnnotation = "deprecated.daemonset.template.generation";

/** Defaults, validates and counts the generations of the pod template. */
export const daemonSet = strategy({
  columns: daemonSetColumns,
  cellPaths: [...workloadCells, "spec.template.spec.nodeSelector"],
  hasGeneration: true,
  fieldAnnotation: generationAnnotation,
  blank: () => ({ metadata: { annotations: { [generationAnnotation]: "0" } } }),
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { revisionHistoryLimit: 10 });
    setTemplateDefaults(spec);
    const update = struct(spec, "updateStrategy");
    setAbsent(update, { type: "RollingUpdate" });
    if (update.type === "RollingUpdate")
      setRollingUpdateDefaults(struct(update, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
    else if (update.rollingUpdate) setRollingUpdateDefaults(update.rollingUpdate, { maxUnavailable: 0, maxSurge: 0 });
    // Set among the defaults, so that the client that writes the object becomes the annotation's
    // field manager.
    setTemplateGeneration(object, templateGeneration(object));
  },
  prepareForCreate(object) {
    delete object.status;
    const generation = templateGeneration(object);
    setTemplateGeneration(object, generation < 1 ? 1 : generation);
  },
  prepareForUpdate(next, old) {
    const changed = !deepEqual(next.spec.template, old.spec.template);
    setTemplateGeneration(next, changed ? addIntegers(templateGeneration(old), 1) : templateGeneration(old));
  },
  prepareForStatusUpdate: (next, old) => setTemplateGeneration(next, templateGeneration(old)),
  validate: (object, errors, context) => validate(object, templateOptions(context), errors),
  validateUpdate(next, old, errors, context) {
    checkSelectorUnchanged(next, old, errors);
    validate(next, templateOptions(context, old.spec.template), errors);
  },
  validateStatusUpdate(next, old, errors) {
    checkCounts(next.status ?? {}, "status", counts, errors);
    checkCollisionCount(next, old, errors);
  },
  warnings(object, old) {
    const isSame = old !== undefined && templateGeneration(object) === templateGeneration(old);
    return isSame ? [] : templateWarnings(object.spec.template, "spec.template");
  },
});

const counts = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "observedGeneration",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
  "collisionCount",
];

function validate(object: KubeObject, options: PodOptions, errors: FieldErrors): void {
  const { spec } = object;
  validateSelector(object, errors);
  validateTemplate(spec.template ?? {}, "spec.template", errors, options);
  checkTemplateRuns(object, { templateNoun: "DaemonSet" }, errors);
  checkCounts(spec, "spec", ["minReadySeconds"], errors);
  if (templateGeneration(object) < 0)
    errors.invalid("spec.templateGeneration", templateGeneration(object), "must be greater than or equal to 0");
  validateUpdateStrategy(spec.updateStrategy, errors);
  checkCounts(spec, "spec", ["revisionHistoryLimit"], errors);
}

/**
 * An absent selector has no error of its own: `checkSelected` rejects it, because it selects
 * nothing.
 */
function validateSelector(object: KubeObject, errors: FieldErrors): void {
  const selector = object.spec.selector ?? undefined;
  const before = errors.causes.length;
  if (selector !== undefined) validateLabelSelector(selector, "spec.selector", errors);
  if (errors.causes.length === before) checkSelected(object, errors);
  if (selector !== undefined && isEmptySelector(selector)) {
    errors.invalid("spec.selector", shownSelector(selector), "empty selector is invalid for daemonset");
  }
}

function validateUpdateStrategy({ type, rollingUpdate = null }: Part, errors: FieldErrors): void {
  const path = "spec.updateStrategy";
  if (type === "RollingUpdate") validateDaemonSetRollingUpdate(rollingUpdate, `${path}.rollingUpdate`, errors);
  else if (type !== "OnDelete")
    errors.notSupported(path, { Type: type, RollingUpdate: rollingUpdate && rollingUpdateInGo(rollingUpdate) }, [
      "RollingUpdate",
      "OnDelete",
    ]);
}

/** @throws ApiError 400 BadRequest for a value that Go does not parse as an int64 */
function templateGeneration(object: KubeObject): Integer {
  const text = object.metadata.annotations?.[generationAnnotation];
  return text === undefined ? 0 : annotatedInteger(text, unreadable);
}

const unreadable = (why: string): ApiError =>
  badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${why}`);

function setTemplateGeneration(object: KubeObject, generation: Integer): void {
  annotateInteger(object, generationAnnotation, generation);
}

/** DaemonSets of extensions/v1beta1. */
export const extensionsDaemonSet: StoredConversion = {
  toStorage(object) {
    const spec = struct(object, "spec");
    setAbsent(struct(spec, "updateStrategy"), { type: "OnDelete" });
    annotateInteger(object, generationAnnotation, spec.templateGeneration ?? 0);
    delete spec.templateGeneration;
    return object;
  },
};
