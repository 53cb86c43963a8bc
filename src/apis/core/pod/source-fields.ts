/** What sources of volumes ask of their fields, pods' and persistent ones. Source: upstream's core validation. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";

type FieldCheck = (source: Part, path: string, errors: FieldErrors) => void;

/** Texts and lists that must not be empty. */
export function requires(...fields: readonly string[]): FieldCheck {
  return (source, path, errors) => {
    for (const field of fields) if ((source[field]?.length ?? 0) === 0) errors.required(`${path}.${field}`);
  };
}

/** A disk of which a partition may be named. */
export function partitioned(idField: string): FieldCheck {
  return (source, path, errors) => {
    requires(idField)(source, path, errors);
    const { partition = 0 } = source;
    if (partition < 0 || partition > 255)
      errors.invalid(`${path}.partition`, partition, "must be between 1 and 255, inclusive");
  };
}
