/** Deployment. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { strategy } from "../../resource/strategy.ts";
import { setTemplateDefaults } from "../core/pod-template.ts";
import { checkNonNegative, type Part, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import { checkSelectorUnchanged, validateWorkload } from "../workload.ts";
import { validateDeploymentRollingUpdate } from "./rolling-update.ts";

export const deployment = strategy({
  hasGeneration: true,
  scale: workloadScale,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    setTemplateDefaults(spec);
    const update = struct(spec, "strategy");
    setAbsent(update, { type: "RollingUpdate" });
    if (update.type === "RollingUpdate") setAbsent(struct(update, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
  },
  prepareForCreate(object) {
    delete object.status;
  },
  validate,
  validateUpdate(next, old, errors) {
    validate(next, errors);
    checkSelectorUnchanged(next, old, errors);
  },
});

function validate(object: KubeObject, errors: FieldErrors): void {
  validateWorkload(object, { noun: "deployment" }, errors);
  const { spec } = object;
  validateStrategy(spec.strategy, "spec.strategy", errors);
  for (const field of ["minReadySeconds", "revisionHistoryLimit"]) checkNonNegative(spec[field], `spec.${field}`, errors);
  checkNonNegative(spec.progressDeadlineSeconds, "spec.progressDeadlineSeconds", errors);
  if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
    errors.invalid("spec.progressDeadlineSeconds", spec.progressDeadlineSeconds, "must be greater than minReadySeconds");
  }
}

function validateStrategy({ type, rollingUpdate = null }: Part, path: string, errors: FieldErrors): void {
  if (type === "RollingUpdate") validateDeploymentRollingUpdate(rollingUpdate, `${path}.rollingUpdate`, errors);
  else if (type !== "Recreate")
    errors.notSupported(path, { Type: type, RollingUpdate: rollingUpdate }, ["Recreate", "RollingUpdate"]); // In Go's words.
  else if (rollingUpdate !== null) errors.forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'");
}
