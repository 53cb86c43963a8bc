import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { LabelProblem } from "../../../lib/pod-security/policy.ts";

/** Returns the errors of invalid labels of a namespace. */
export function labelErrors(problems: readonly LabelProblem[]): FieldErrors {
  const errors = new FieldErrors();
  for (const { label, value, message } of problems) errors.invalid(`metadata.labels[${label}]`, value, message);
  return errors;
}
