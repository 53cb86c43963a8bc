/**
 * Validation of the resource claims of a pod.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { mirrorAnnotation } from "../../../apimachinery/pod-references.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { goForm } from "../../../catalog/go-form.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";
import { annotationOf } from "./annotations.ts";

/** @param annotations of a pod; undefined in templates */
export function validateResourceClaims(
  claims: readonly Part[],
  path: string,
  annotations: Readonly<Record<string, string>> | undefined,
  errors: FieldErrors,
): void {
  const isMirror = annotationOf(annotations, mirrorAnnotation) !== undefined;
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (isMirror) errors.forbidden("[]", "static pods do not support resource claims");
    else validateClaim(claim, `${path}[${index}]`, names, errors);
  }
}

function validateClaim(claim: Part, path: string, names: Set<string>, errors: FieldErrors): void {
  const { name = "", resourceClaimName, resourceClaimTemplateName } = claim;
  if (name === "") errors.required(`${path}.name`);
  else if (names.has(name)) errors.duplicate(`${path}.name`, name);
  else {
    addInvalid(errors, `${path}.name`, name, dnsLabelProblems(name));
    names.add(name);
  }
  const hasBoth = resourceClaimName !== undefined && resourceClaimTemplateName !== undefined;
  const hasNone = resourceClaimName === undefined && resourceClaimTemplateName === undefined;
  if (hasBoth)
    addClaimError(
      claim,
      path,
      "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
      errors,
    );
  if (hasNone)
    addClaimError(claim, path, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`", errors);
  for (const field of ["resourceClaimName", "resourceClaimTemplateName"]) {
    if (claim[field] !== undefined)
      addInvalid(errors, `${path}.${field}`, claim[field], dnsSubdomainProblems(claim[field]));
  }
}

function addClaimError(claim: Part, path: string, why: string, errors: FieldErrors): void {
  errors.invalid(path, goForm("PodResourceClaim", claim), why);
}
