/** Job: selects its pods by its own uid, unless told otherwise. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { validateLabels } from "../../api/validation/metadata.ts";
import { strategy } from "../../resource/strategy.ts";
import { setTemplateDefaults, validateTemplate } from "../core/pod-template.ts";
import { checkImmutable, checkNonNegative, items, selectable, setAbsent, struct } from "../fields.ts";

const int32Max = 2 ** 31 - 1;

export const job = strategy({
  hasGeneration: true,
  orphansByDefault: {
    warning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  },
  selectableFields: { "status.successful": (object) => selectable("status.succeeded")(object) || "0" },
  setDefaults(object) {
    const spec = struct(object, "spec");
    if (spec.parallelism === undefined && spec.completions === undefined) spec.completions = 1;
    setAbsent(spec, {
      parallelism: 1,
      backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : int32Max,
      completionMode: "NonIndexed",
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed",
    });
    setTemplateDefaults(spec);
    for (const rule of items(spec.podFailurePolicy?.rules)) {
      for (const pattern of items(rule.onPodConditions)) setAbsent(pattern, { status: "True" });
    }
    const labels = spec.template.metadata?.labels;
    if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = labels; // Shared until the job has its uid's labels.
  },
  prepareForCreate(object) {
    delete object.status;
    if (object.spec.manualSelector !== true) selectByUid(object);
  },
  validate(object, errors) {
    const { spec } = object;
    if (!spec.selector) errors.required("spec.selector");
    validateSpec(object, errors);
  },
  validateUpdate(next, old, errors) {
    validateSpec(next, errors);
    for (const field of ["completionMode", "selector"]) checkImmutable(next.spec[field], old.spec[field], `spec.${field}`, errors);
    if (next.spec.completionMode !== "Indexed") checkImmutable(next.spec.completions, old.spec.completions, "spec.completions", errors);
    if (old.spec.suspend !== true) checkImmutable(next.spec.template, old.spec.template, "spec.template", errors);
  },
});

/** Labels the template and the selector with the job's uid, which nobody else has; the short names are what older releases wrote. */
function selectByUid(object: KubeObject): void {
  const { uid = "", name = "" } = object.metadata;
  const labels = struct(struct(object.spec.template, "metadata"), "labels");
  const areShared = object.metadata.labels === labels;
  setAbsent(labels, {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  });
  if (areShared) object.metadata.labels = { ...labels };
  const matchLabels = struct(struct(object.spec, "selector"), "matchLabels");
  setAbsent(matchLabels, { "batch.kubernetes.io/controller-uid": uid });
}

function validateSpec(object: KubeObject, errors: FieldErrors): void {
  const { spec } = object;
  for (const field of ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"]) {
    checkNonNegative(spec[field], `spec.${field}`, errors);
  }
  validateJobTemplate(spec, "spec", errors);
}

/** @param path of the job's spec */
export function validateJobTemplate(spec: KubeObject["spec"], path: string, errors: FieldErrors): void {
  const template = spec.template ?? {};
  validateLabels(template.metadata?.labels, `${path}.template.metadata.labels`, errors);
  validateTemplate(template, `${path}.template`, errors);
  const { restartPolicy } = template.spec ?? {};
  if (restartPolicy === "Always") {
    errors.required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"');
  }
}
