/** Query parameters that several requests have. */
import { invalid } from "../apimachinery/errors.ts";
import type { FieldErrors } from "../apimachinery/field-errors.ts";

/** Adds an error unless every value is `All`. */
export function validateDryRun(values: readonly string[], errors: FieldErrors): void {
  if (values.some((value) => value !== "All")) errors.notSupported("dryRun", values, ["All"]);
}

/** @throws ApiError 422 when there is any error */
export function throwInvalidOptions(kind: string, errors: FieldErrors): void {
  if (!errors.empty) throw invalid("meta.k8s.io", kind, "", errors.causes);
}
