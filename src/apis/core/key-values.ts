/** Validation that ConfigMaps and Secrets share. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { identical } from "../../lib/json/values.ts";
import type { Part } from "../fields.ts";

/** Maximum size of all values of an object together: 1 MiB. */
export const valuesBytesMax = 1024 * 1024;

/** @returns the entries sorted by key, so that the order of errors is stable */
export function entries(values: Readonly<Record<string, string>> | undefined): [string, string][] {
  if (values === undefined) return [];
  const keys = Object.keys(values);
  const isSorted = keys.every((key, index) => index === 0 || key > (keys[index - 1] as string));
  return (isSorted ? keys : keys.sort()).map((key) => [key, values[key] as string]);
}

/** Rejects changes of an object that is marked immutable. @param fields that hold the values */
export function checkImmutableValues(next: Part, old: Part, fields: readonly string[], errors: FieldErrors): void {
  if (old.immutable !== true) return;
  const why = "field is immutable when `immutable` is set";
  if (next.immutable !== true) errors.forbidden("immutable", why);
  for (const field of fields) if (!identical(next[field] ?? null, old[field] ?? null)) errors.forbidden(field, why);
}

/** @returns the number of bytes that a base64 text encodes */
export function decodedBytes(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}
