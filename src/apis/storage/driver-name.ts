/** Names of drivers of volumes, wherever they stand. Source: kubernetes' ValidateCSIDriverName. */
import type { FieldErrors } from "../../api/field-errors.ts";
import { addInvalid } from "../../api/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";

const nameBytesMax = 63;

export function validateCsiDriverName(name: string, path: string, errors: FieldErrors): void {
  if (name === "") return errors.required(path);
  if (Buffer.byteLength(name) > nameBytesMax) errors.tooLong(path, nameBytesMax);
  addInvalid(errors, path, name, dnsSubdomainProblems(name.toLowerCase()));
}
