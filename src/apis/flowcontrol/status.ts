/** Rules for the status of flow schemas and priority levels. */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { items } from "../fields.ts";

/** Reports missing and duplicate condition types. */
export function validateConditionTypes({ status }: KubeObject, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type = "" }] of items(status?.conditions).entries()) {
    const path = `status.conditions[${index}].type`;
    if (seen.has(type)) errors.duplicate(path, typedText(type));
    seen.add(type);
    if (type === "") errors.required(path);
  }
}

/** Restores all metadata except managed fields. */
export function keepMeta(next: KubeObject, old: KubeObject): void {
  const { managedFields } = next.metadata;
  const { managedFields: _, ...metadata } = old.metadata;
  next.metadata = { ...metadata, ...(managedFields !== undefined && { managedFields }) };
}
