/**
 * Validators of fields that sources of pod volumes and persistent volumes share.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";

type FieldCheck = (source: Part, path: string, errors: FieldErrors) => void;

/** @returns a validator that requires non-empty strings or lists */
export function requires(...fields: readonly string[]): FieldCheck {
  return (source, path, errors) => {
    for (const field of fields) if ((source[field]?.length ?? 0) === 0) errors.required(`${path}.${field}`);
  };
}

/** @returns a validator of disks with an ID and an optional partition */
export function partitioned(idField: string): FieldCheck {
  return (source, path, errors) => {
    requires(idField)(source, path, errors);
    const { partition = 0 } = source;
    if (partition < 0 || partition > 255)
      errors.invalid(`${path}.partition`, partition, "must be between 1 and 255, inclusive");
  };
}
