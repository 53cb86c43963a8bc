/** A pod as a whole, when it is made and when it is changed. Source: upstream's core validation. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateMetaAgain } from "../../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateAnnotationChanges, validatePodAnnotations, validateProfilesAgree } from "./annotations.ts";
import { checkImagePadding } from "./container.ts";
import type { PodOptions } from "./options.ts";
import { validatePodSpec } from "./validate-spec.ts";

/** Of a new pod, whose metadata has been looked at. */
export function validateNewPod(pod: KubeObject, options: PodOptions, errors: FieldErrors): void {
  const { metadata, spec } = pod;
  validateContent(pod, options, errors);
  if (items(spec.ephemeralContainers).length > 0)
    errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (spec.nodeName && items(spec.schedulingGates).length > 0) {
    errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
  validateProfilesAgree(metadata.annotations, spec, "spec", errors);
}

/** The least of every update of a pod: upstream looks at all of it once more. */
export function validateChangedPod(next: KubeObject, old: KubeObject, options: PodOptions, errors: FieldErrors): void {
  if (!errors.empty) validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
  validateContent(next, options, errors);
  validateAnnotationChanges(next, old, "metadata.annotations", errors);
  validatePodAnnotations(next.metadata.annotations, next.spec, "metadata.annotations", options, errors);
}

function validateContent({ metadata, spec }: KubeObject, options: PodOptions, errors: FieldErrors): void {
  validatePodAnnotations(metadata.annotations, spec, "metadata.annotations", options, errors);
  validatePodSpec(spec, "spec", { options, metadata }, errors);
  if (!spec.serviceAccountName) checkNoTokens(spec, errors);
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of items(spec[list]).entries())
      checkImagePadding(container, `spec.${list}[${index}]`, errors);
  }
}

/** Tokens are a service account's. */
function checkNoTokens(spec: Part, errors: FieldErrors): void {
  for (const [index, { projected }] of items(spec.volumes).entries()) {
    for (const [place, { serviceAccountToken }] of items(projected?.sources).entries()) {
      if (!serviceAccountToken) continue;
      const at = `spec.volumes[${index}].projected.sources[${place}].serviceAccountToken`;
      errors.forbidden(at, "must not be specified when serviceAccountName is not set");
    }
  }
}
