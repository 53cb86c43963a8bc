/** CronJob. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { strategy } from "../../resource/strategy.ts";
import { setTemplateDefaults } from "../core/pod-template.ts";
import { checkNonNegative, setAbsent, struct } from "../fields.ts";
import { validateJobTemplate } from "./job.ts";

/** Room for the suffix its jobs get. */
const nameBytesMax = 52;

export const cronJob = strategy({
  hasGeneration: true,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
    setTemplateDefaults(struct(struct(spec, "jobTemplate"), "spec"));
  },
  prepareForCreate(object) {
    delete object.status;
  },
  validate(object, errors) {
    validate(object, errors);
    const { name = "" } = object.metadata;
    if (name.length > nameBytesMax) errors.invalid("metadata.name", name, `must be no more than ${nameBytesMax} characters`);
  },
  validateUpdate: (next, _old, errors) => validate(next, errors),
});

const policies = ["Allow", "Forbid", "Replace"];

function validate(object: KubeObject, errors: FieldErrors): void {
  const { spec } = object;
  if ((spec.schedule ?? "") === "") errors.required("spec.schedule");
  checkNonNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds", errors);
  if (!policies.includes(spec.concurrencyPolicy)) errors.notSupported("spec.concurrencyPolicy", spec.concurrencyPolicy, policies);
  validateJobTemplate(spec.jobTemplate.spec, "spec.jobTemplate.spec", errors);
  for (const field of ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]) checkNonNegative(spec[field], `spec.${field}`, errors);
}
