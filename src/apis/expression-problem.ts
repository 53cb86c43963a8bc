import type { FieldErrors } from "../apimachinery/field-errors.ts";

/**
 * Adds the problem of a CEL expression. One whose constant parts fail has no program, which is an internal error.
 * Source: `convertCELErrorToValidationError` in `pkg/apis/admissionregistration/validation/validation.go` of Kubernetes 1.36.
 */
export function addExpressionProblem(errors: FieldErrors, path: string, shown: string, problem: string): void {
  if (problem.startsWith("program instantiation failed: ")) errors.internal(path, problem);
  else errors.invalid(path, shown, problem);
}
