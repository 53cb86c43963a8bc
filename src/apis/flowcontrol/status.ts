/** What flow schemas and priority levels share: conditions, and what writes of status leave as it is. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { items } from "../fields.ts";

export function validateConditionTypes({ status }: KubeObject, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type = "" }] of items(status?.conditions).entries()) {
    const path = `status.conditions[${index}].type`;
    if (seen.has(type)) errors.duplicate(path, type);
    seen.add(type);
    if (type === "") errors.required(path);
  }
}

/** All of metadata but who manages the fields. */
export function keepMeta(next: KubeObject, old: KubeObject): void {
  const { managedFields } = next.metadata;
  const { managedFields: _, ...metadata } = old.metadata;
  next.metadata = { ...metadata, ...(managedFields !== undefined && { managedFields }) };
}
