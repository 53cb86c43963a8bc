/** What a plugin says of a request that it refuses. Source: apiserver's admission.NewForbidden. */

import type { StatusCause } from "../apimachinery/errors.ts";
import { type ApiError, forbidden } from "../apimachinery/errors.ts";
import type { AdmissionAttributes } from "./contract.ts";

/** @returns a 403 that names the object as far as it has a name yet */
export function refusal({ target, name, object }: AdmissionAttributes, why: string, causes?: StatusCause[]): ApiError {
  const { group, resource } = target.resource.definition;
  return forbidden(
    { group, resource },
    name || object?.metadata.name || object?.metadata.generateName || "Unknown",
    why,
    causes,
  );
}
