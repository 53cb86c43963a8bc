/** DaemonSet. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { strategy } from "../../resource/strategy.ts";
import { setTemplateDefaults } from "../core/pod-template.ts";
import { checkNonNegative, setAbsent, struct } from "../fields.ts";
import { checkSelectorUnchanged, validateWorkload } from "../workload.ts";
import { validateDaemonSetRollingUpdate } from "./rolling-update.ts";

/** Counts the changes of the template; an annotation since the field was retired. */
const generationAnnotation = "deprecated.daemonset.template.generation";

export const daemonSet = strategy({
  hasGeneration: true,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { revisionHistoryLimit: 10 });
    setTemplateDefaults(spec);
    const update = struct(spec, "updateStrategy");
    setAbsent(update, { type: "RollingUpdate" });
    if (update.type === "RollingUpdate") setAbsent(struct(update, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
    setTemplateGeneration(object, templateGeneration(object)); // Here already, so that who writes the object manages the annotation.
  },
  prepareForCreate(object) {
    delete object.status;
    setTemplateGeneration(object, Math.max(templateGeneration(object), 1));
  },
  prepareForUpdate(next, old) {
    const changed = !deepEqual(next.spec.template, old.spec.template);
    setTemplateGeneration(next, templateGeneration(old) + (changed ? 1 : 0));
  },
  validate,
  validateUpdate(next, old, errors) {
    validate(next, errors);
    checkSelectorUnchanged(next, old, errors);
  },
});

function validate(object: KubeObject, errors: FieldErrors): void {
  validateWorkload(object, { noun: "daemonset", selectorMayBeAbsent: true }, errors);
  const { minReadySeconds, updateStrategy, revisionHistoryLimit } = object.spec;
  checkNonNegative(minReadySeconds, "spec.minReadySeconds", errors);
  const { type, rollingUpdate = null } = updateStrategy;
  if (type === "RollingUpdate") validateDaemonSetRollingUpdate(rollingUpdate, "spec.updateStrategy.rollingUpdate", errors);
  else if (type !== "OnDelete")
    errors.notSupported("spec.updateStrategy", { Type: type, RollingUpdate: rollingUpdate }, ["RollingUpdate", "OnDelete"]); // In Go's words.
  checkNonNegative(revisionHistoryLimit, "spec.revisionHistoryLimit", errors);
}

function templateGeneration(object: KubeObject): number {
  const value = Number(object.metadata.annotations?.[generationAnnotation] ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}

function setTemplateGeneration(object: KubeObject, generation: number): void {
  object.metadata.annotations ??= {};
  object.metadata.annotations[generationAnnotation] = String(generation);
}
