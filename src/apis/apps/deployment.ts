/** Deployment. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { strategy } from "../../resource/strategy.ts";
import { setTemplateDefaults } from "../core/pod-template.ts";
import { checkNonNegative, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import { checkSelectorUnchanged, validateWorkload } from "../workload.ts";

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
  const types = ["Recreate", "RollingUpdate"];
  if (!types.includes(spec.strategy.type)) errors.notSupported("spec.strategy.type", spec.strategy.type, types);
  if (spec.strategy.type === "Recreate" && spec.strategy.rollingUpdate) {
    errors.forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
  }
  for (const field of ["minReadySeconds", "revisionHistoryLimit"]) checkNonNegative(spec[field], `spec.${field}`, errors);
  checkNonNegative(spec.progressDeadlineSeconds, "spec.progressDeadlineSeconds", errors);
  if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
    errors.invalid("spec.progressDeadlineSeconds", spec.progressDeadlineSeconds, "must be greater than minReadySeconds");
  }
}
