/**
 * Removes fields that a schema does not declare.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/pruning/algorithm.go
 */

import { isObject } from "../json/values.ts";
import { FieldTrail } from "./field-trail.ts";
import type { JsonObject } from "./json-object.ts";
import { metaFields, type StructuralSchema } from "./structural-schema.ts";

/**
 * Removes unknown fields. `apiVersion`, `kind` and `metadata` of embedded resources stay, and those
 * of the root when `schema` is a resource root.
 * @param value plain JSON, changed in place
 */
export function prune(value: unknown, schema: StructuralSchema): void {
  pruneValue(value, schema, undefined);
}

/**
 * Removes unknown fields and reports them.
 * @param value plain JSON, changed in place
 * @returns the sorted paths of the removed fields, as strict field validation names them; without
 *   `apiVersion`, `kind` and `metadata` of the root
 */
export function pruneAndReport(value: unknown, schema: StructuralSchema): readonly string[] {
  const trail = new FieldTrail();
  pruneValue(value, schema, trail);
  return trail.found;
}

/** @param schema undefined when no field is declared, so all are removed */
function pruneValue(value: unknown, schema: StructuralSchema | undefined, trail: FieldTrail | undefined): void {
  if (typeof value !== "object" || value === null) return;
  if (schema?.preserveUnknownFields === true) pruneDeclared(value, schema, trail);
  else if (Array.isArray(value)) pruneItems(value, schema?.items, trail, pruneValue);
  else if (schema === undefined) removeAll(value as JsonObject, trail);
  else pruneFields(value as JsonObject, schema, trail);
}

function pruneFields(object: JsonObject, schema: StructuralSchema, trail: FieldTrail | undefined): void {
  for (const name of Object.keys(object)) {
    if (schema.embeddedResource && metaFields.has(name)) continue;
    const value = object[name];
    const property = schema.properties.get(name);
    if (property !== undefined || schema.additionalProperties !== undefined) {
      if (typeof value === "object" && value !== null) pruneField(name, value, property ?? valuesOf(schema), trail);
      continue;
    }
    if (trail !== undefined && !(trail.isRoot && metaFields.has(name))) trail.note(name);
    delete object[name];
  }
}

function pruneField(
  name: string,
  value: unknown,
  schema: StructuralSchema | undefined,
  trail: FieldTrail | undefined,
): void {
  trail?.enterField(name);
  pruneValue(value, schema, trail);
  trail?.leave();
}

function pruneItems(
  items: readonly unknown[],
  schema: StructuralSchema | undefined,
  trail: FieldTrail | undefined,
  pruneItem: (item: unknown, schema: StructuralSchema | undefined, trail: FieldTrail | undefined) => void,
): void {
  for (const [index, item] of items.entries()) {
    if (typeof item !== "object") continue;
    trail?.enterItem(index);
    pruneItem(item, schema, trail);
    trail?.leave();
  }
}

function removeAll(object: JsonObject, trail: FieldTrail | undefined): void {
  for (const name of Object.keys(object)) {
    trail?.note(name);
    delete object[name];
  }
}

/** Prunes the declared fields of a value whose unknown fields are preserved. */
function pruneDeclared(value: unknown, schema: StructuralSchema | undefined, trail: FieldTrail | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) pruneItems(value, schema.items, trail, pruneDeclared);
  if (!isObject(value) || (schema.properties.size === 0 && schema.additionalProperties === undefined)) return;
  for (const name of Object.keys(value)) {
    if (schema.embeddedResource && metaFields.has(name)) continue;
    const property = schema.properties.get(name);
    if (property !== undefined || schema.additionalProperties !== undefined)
      pruneField(name, value[name], property ?? valuesOf(schema), trail);
  }
}

function valuesOf({ additionalProperties }: StructuralSchema): StructuralSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
