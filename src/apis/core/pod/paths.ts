/**
 * Validation of paths inside volumes and containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";

/** Requires a relative path that stays below its base. */
export function checkDescendingPath(target: string, path: string, errors: FieldErrors): void {
  if (target.startsWith("/")) errors.invalid(path, target, "must be a relative path");
  checkNoBacksteps(target, path, errors);
}

/** Rejects `..` as a path segment. */
export function checkNoBacksteps(target: string, path: string, errors: FieldErrors): void {
  if (hasBackstep(target)) errors.invalid(path, target, "must not contain '..'");
}

export function hasBackstep(target: string): boolean {
  return target.includes("..") && target.split("/").includes("..");
}

/** The same for files in a volume, where names with the prefix `..` are reserved. */
export function checkLocalPath(target: string, path: string, errors: FieldErrors): void {
  checkDescendingPath(target, path, errors);
  if (target.startsWith("..") && !target.startsWith("../")) errors.invalid(path, target, "must not start with '..'");
}
