/** The election strategy of a lease: a name that Kubernetes defines, or one with a domain. */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";

/** Reports the problems of a strategy. @param path path of the field; upstream repeats it */
export function validateLeaseStrategy(text: string, path: string, errors: FieldErrors): void {
  if (text.includes("/")) addInvalid(errors, `${path}.strategy`, typedText(text), qualifiedNameProblems(text));
  else if (text !== "OldestEmulationVersion") errors.notSupported(`${path}.strategy`, text, ["OldestEmulationVersion"]);
}
