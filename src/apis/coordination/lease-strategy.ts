/** How the holder of a lease is chosen: a name that Kubernetes knows, or one with a domain. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";

/** @param path of the field; upstream names it twice */
export function validateLeaseStrategy(text: string, path: string, errors: FieldErrors): void {
  if (text.includes("/")) addInvalid(errors, `${path}.strategy`, text, qualifiedNameProblems(text));
  else if (text !== "OldestEmulationVersion") errors.notSupported(`${path}.strategy`, text, ["OldestEmulationVersion"]);
}
