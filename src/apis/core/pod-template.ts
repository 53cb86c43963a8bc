/** The pod template that workloads carry. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { validateAnnotations, validateLabels } from "../../api/validation/metadata.ts";
import { type Part, struct } from "../fields.ts";
import { setPodSpecDefaults, validatePodSpec } from "./pod-spec.ts";

export function setTemplateDefaults(owner: Part): void {
  setPodSpecDefaults(struct(struct(owner, "template"), "spec"));
}

/** @param path of the template, such as `spec.template` */
export function validateTemplate(template: Part, path: string, errors: FieldErrors): void {
  validateLabels(template.metadata?.labels, `${path}.labels`, errors);
  validateAnnotations(template.metadata?.annotations, `${path}.annotations`, errors);
  validatePodSpec(template.spec ?? {}, `${path}.spec`, errors);
}
