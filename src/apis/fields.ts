/** Helpers for fields that all kinds share. */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { addInvalid } from "../apimachinery/validation/metadata.ts";
import { deepEqual } from "../lib/json/values.ts";

/** Part of an object. Decoding has checked it against the schema. */
// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types; kinds read their own fields.
export type Part = Record<string, any>;

/** Sets absent fields. An empty string counts as absent, as in Go. */
export function setAbsent(target: Part, values: Readonly<Part>): void {
  for (const field in values) {
    if (target[field] === undefined || target[field] === null || target[field] === "") target[field] = values[field];
  }
}

/** Returns the struct in a field, after creating it if it is absent. */
export function struct(target: Part, field: string): Part {
  target[field] ??= {};
  return target[field];
}

/** The items of a list; none when it is absent. */
export function items(list: unknown): Part[] {
  return Array.isArray(list) ? list : [];
}

/** Reports a field that an update may not change. */
export function checkImmutable(next: unknown, old: unknown, path: string, errors: FieldErrors): void {
  if (!deepEqual(next, old)) errors.invalid(path, next ?? null, "field is immutable");
}

/** Reports a negative number. */
export function checkNonNegative(value: unknown, path: string, errors: FieldErrors): void {
  if (typeof value === "number" && value < 0) addInvalid(errors, path, value, ["must be greater than or equal to 0"]);
}

/** Reports a list that has other values besides `*`. @param what the values, in the message */
export function checkWildcard(list: readonly string[], path: string, what: string, errors: FieldErrors): void {
  if (list.length > 1 && list.includes("*"))
    errors.invalid(path, list, `if '*' is present, must not specify other ${what}`);
}

/** Returns a reader of a dotted path for field selectors. Absent fields are empty strings. */
export function selectable(path: string): (object: KubeObject) => string {
  const steps = path.split(".");
  return (object) => {
    let value: unknown = object;
    for (const step of steps) value = isStruct(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    return value === undefined || value === null ? "" : String(value);
  };
}

const isStruct = (value: unknown): value is Part => typeof value === "object" && value !== null;

/** Field selectors whose key is the path itself. */
export function selectableAt(...paths: string[]): Record<string, (object: KubeObject) => string> {
  return Object.fromEntries(paths.map((path) => [path, selectable(path)]));
}

const metaOfStatus = [
  "deletionTimestamp",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "selfLink",
] as const;

/**
 * Restores metadata after a write of `/status` that may change status only. Managed fields are not
 * restored. Source: ResetObjectMetaForStatus in
 * k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/helpers.go.
 */
export function keepMetaForStatus(next: KubeObject, old: KubeObject): void {
  const { metadata } = old;
  for (const field of metaOfStatus) {
    if (metadata[field] === undefined) delete next.metadata[field];
    else Object.assign(next.metadata, { [field]: metadata[field] });
  }
}
