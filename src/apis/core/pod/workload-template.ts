/**
 * Pod templates of workloads.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateAnnotations, validateLabels } from "../../../apimachinery/validation/metadata.ts";
import { items, type Part, struct } from "../../fields.ts";
import { dropInitContainerAnnotations, validatePodAnnotations, validateProfilesAgree } from "./annotations.ts";
import type { PodOptions } from "./options.ts";
import { setPodSpecDefaults } from "./spec-defaults.ts";
import { validatePodSpec } from "./validate-spec.ts";

export { templateOptions } from "./options.ts";

/** @param owner has the field `template`: the spec of a workload, or a PodTemplate */
export function setTemplateDefaults(owner: Part): void {
  const template = struct(owner, "template");
  setPodSpecDefaults(struct(template, "spec"));
  dropInitContainerAnnotations(template.metadata);
}

/**
 * @param path of the template, such as `spec.template`
 * @param options `templateOptions(context, old template)`
 */
export function validateTemplate(template: Part, path: string, errors: FieldErrors, options: PodOptions): void {
  const { metadata, spec = {} } = template;
  validateLabels(metadata?.labels, `${path}.labels`, errors);
  validateAnnotations(metadata?.annotations, `${path}.annotations`, errors);
  validatePodAnnotations(metadata?.annotations, spec, `${path}.annotations`, options, errors);
  validatePodSpec(spec, `${path}.spec`, { options }, errors);
  validateProfilesAgree(metadata?.annotations, spec, `${path}.spec`, errors);
  if (items(spec.ephemeralContainers).length > 0) {
    errors.forbidden(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template");
  }
}
