/** Paths inside volumes and containers. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";

/** A relative path that stays below where it starts. */
export function checkDescendingPath(target: string, path: string, errors: FieldErrors): void {
  if (target.startsWith("/")) errors.invalid(path, target, "must be a relative path");
  checkNoBacksteps(target, path, errors);
}

export function checkNoBacksteps(target: string, path: string, errors: FieldErrors): void {
  if (hasBackstep(target)) errors.invalid(path, target, "must not contain '..'");
}

export function hasBackstep(target: string): boolean {
  return target.includes("..") && target.split("/").includes("..");
}

/** The same for files that a volume makes, beside which it keeps names with two dots for itself. */
export function checkLocalPath(target: string, path: string, errors: FieldErrors): void {
  checkDescendingPath(target, path, errors);
  if (target.startsWith("..") && !target.startsWith("../")) errors.invalid(path, target, "must not start with '..'");
}
