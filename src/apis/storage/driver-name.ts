/** Names of drivers of volumes, wherever they stand. Source: kubernetes' ValidateCSIDriverName. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems, isLongerThan } from "../../lib/names/names.ts";

const nameBytesMax = 63;

export function validateCsiDriverName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") return errors.covered().required(path);
  if (Buffer.byteLength(name) > nameBytesMax) {
    const isCovered = isLongerThan(name, nameBytesMax); // Rules count characters.
    (isCovered ? errors.covered("maxLength") : errors).tooLong(path, nameBytesMax);
  }
  addInvalid(errors.covered("format=k8s-long-name-caseless"), path, name, dnsSubdomainProblems(name.toLowerCase()));
}
