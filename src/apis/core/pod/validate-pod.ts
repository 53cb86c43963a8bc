/**
 * Validation of whole pods, on create and on update.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateMetaAgainIfNeeded } from "../../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateAnnotationChanges, validatePodAnnotations, validateProfilesAgree } from "./annotations.ts";
import { checkImagePadding } from "./container.ts";
import type { PodOptions } from "./options.ts";
import { validatePodSpec } from "./validate-spec.ts";

/** Validates a new pod, except for its metadata, which is validated before. */
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

/** Rules that all updates share. Like upstream, they include those for creates. */
export function validateChangedPod(next: KubeObject, old: KubeObject, options: PodOptions, errors: FieldErrors): void {
  validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
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

/** Projected tokens require a service account. */
function checkNoTokens(spec: Part, errors: FieldErrors): void {
  for (const [index, { projected }] of items(spec.volumes).entries()) {
    for (const [place, { serviceAccountToken }] of items(projected?.sources).entries()) {
      if (!serviceAccountToken) continue;
      const at = `spec.volumes[${index}].projected.sources[${place}].serviceAccountToken`;
      errors.forbidden(at, "must not be specified when serviceAccountName is not set");
    }
  }
}
