/**
 * Validates binding conditions of a device: those required before binding, and those that make it
 * fail.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../lib/names/names.ts";
import type { Part } from "../fields.ts";
import { validateList } from "./lists.ts";

const conditionsMax = 4;

export function validateBindingConditions(part: Part, path: string, errors: FieldErrors): void {
  const conditions: readonly string[] = part.bindingConditions ?? [];
  const failures: readonly string[] = part.bindingFailureConditions ?? [];
  const check = (name: string, at: string): void => addInvalid(errors, at, name, qualifiedNameProblems(name));
  const [ownPath, failurePath] = [`${path}.bindingConditions`, `${path}.bindingFailureConditions`];
  validateList(conditions, conditionsMax, check, ownPath, errors.covered("maxItems"));
  validateList(failures, conditionsMax, check, failurePath, errors.covered("maxItems"));
  const own = new Set<string>();
  for (const [index, name] of conditions.entries()) {
    if (own.has(name)) errors.duplicate(`${ownPath}[${index}]`, name);
    own.add(name);
  }
  const failing = new Set<string>();
  for (const [index, name] of failures.entries()) {
    if (failing.has(name)) errors.duplicate(`${failurePath}[${index}]`, name);
    failing.add(name);
    if (own.has(name))
      errors.invalid(
        `${failurePath}[${index}]`,
        name,
        "bindingFailureConditions must not overlap with bindingConditions",
      );
  }
  const shown = (field: string): unknown => part[field] ?? null;
  if (conditions.length === 0 && failures.length > 0) {
    errors.invalid(
      ownPath,
      shown("bindingConditions"),
      "bindingConditions are required to use bindingFailureConditions",
    );
  }
  if (failures.length === 0 && conditions.length > 0) {
    errors.invalid(
      failurePath,
      shown("bindingFailureConditions"),
      "bindingFailureConditions are required to use bindingConditions",
    );
  }
}
