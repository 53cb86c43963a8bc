/**
 * Names of volume drivers. Source: ValidateCSIDriverName in
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems, isLongerThan } from "../../lib/names/names.ts";

const nameBytesMax = 63;

/** Reports the problems of a driver name. */
export function validateCsiDriverName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") return errors.covered().required(path);
  if (Buffer.byteLength(name) > nameBytesMax) {
    const isCovered = isLongerThan(name, nameBytesMax); // Declarative rules count characters.
    (isCovered ? errors.covered("maxLength") : errors).tooLong(path, nameBytesMax);
  }
  addInvalid(errors.covered("format=k8s-long-name-caseless"), path, name, dnsSubdomainProblems(name.toLowerCase()));
}
