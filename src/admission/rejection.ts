/**
 * The error of an admission plugin that rejects a request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/errors.go (`NewForbidden`).
 */
import { type ApiError, forbidden, type StatusCause } from "../apimachinery/errors.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";

/**
 * @returns an error 403 with the name of the object, else its generateName, else `Unknown`
 */
export function rejection(
  { target, name, object }: AdmissionAttributes,
  why: string,
  causes?: StatusCause[],
): ApiError {
  const { group, resource } = target.resource.definition;
  return forbidden(
    { group, resource },
    name || object?.metadata.name || object?.metadata.generateName || "Unknown",
    why,
    causes,
  );
}
