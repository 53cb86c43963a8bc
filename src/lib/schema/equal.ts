/**
 * Equality by upstream's `equality.Semantic`. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/api/equality/semantic.go
 */
import { identical } from "../json/values.ts";
import { compareQuantities, parseQuantity } from "../quantity/quantity.ts";
import type { Any, Field, Struct, Type } from "./schema.ts";
import { zeroValueOf } from "./zero.ts";

/**
 * Whether upstream considers two objects equal. An absent list or map equals an empty one, and an
 * absent field equals its zero value, unless it is a pointer: a set pointer differs from an unset
 * one.
 */
export function equalBySchema(a: object, b: object, schema: Struct): boolean {
  return schema.fields.every((field) => equalFields(member(a, field), member(b, field), field));
}

/** Like `equalBySchema`, for values of any type. */
export function equalValues(a: unknown, b: unknown, type: Type): boolean {
  if (a === b) return true;
  switch (type.kind) {
    case "struct":
      return equalBySchema(objectOf(a), objectOf(b), type);
    case "list":
      return equalLists(listOf(a), listOf(b), type.items);
    case "map":
      return equalMaps(objectOf(a), objectOf(b), type.values);
    case "any":
      return equalForms(a ?? null, b ?? null, type);
    case "quantity":
      return compareQuantities(parseQuantity(textOf(a)), parseQuantity(textOf(b))) === 0;
    default:
      return (a ?? zeroValueOf(type)) === (b ?? zeroValueOf(type));
  }
}

/** The text of a quantity. `1Gi` and `1073741824` are equal. */
const textOf = (value: unknown): string => String(value ?? "0");

/** Like `equalBySchema`, for the values of a field: a set pointer differs from an unset one. */
export function equalFields(a: unknown, b: unknown, field: Field): boolean {
  if (a === b) return true;
  if (field.pointer && isUnset(a) !== isUnset(b)) return false;
  return equalValues(a, b, field.type);
}

/** Compares values by a typed form if both have it, otherwise as plain JSON. */
function equalForms(a: unknown, b: unknown, type: Any): boolean {
  const form = type.forms?.find((candidate) => hasForm(a, candidate) && hasForm(b, candidate));
  return form === undefined ? identical(a, b) : equalValues(a, b, form);
}

function hasForm(value: unknown, form: Type): boolean {
  if (form.kind === "list") return Array.isArray(value);
  return form.kind === "struct" && typeof value === "object" && value !== null && !Array.isArray(value);
}

function equalLists(a: readonly unknown[], b: readonly unknown[], items: Type): boolean {
  return a.length === b.length && a.every((item, index) => equalValues(item, b[index], items));
}

function equalMaps(a: Record<string, unknown>, b: Record<string, unknown>, values: Type): boolean {
  for (const key in a) if (!Object.hasOwn(b, key) || !equalValues(a[key], b[key], values)) return false;
  for (const key in b) if (!Object.hasOwn(a, key)) return false;
  return true;
}

function member(object: object, field: Field): unknown {
  return Object.hasOwn(object, field.name) ? (object as Record<string, unknown>)[field.name] : undefined;
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null;
}

function objectOf(value: unknown): Record<string, unknown> {
  return (value ?? {}) as Record<string, unknown>;
}

function listOf(value: unknown): readonly unknown[] {
  return (value ?? []) as readonly unknown[];
}
