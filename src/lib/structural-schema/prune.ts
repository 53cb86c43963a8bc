/** Removes fields that a schema does not know. Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/pruning */
import { FieldTrail } from "./field-trail.ts";
import { isJsonObject, type JsonObject } from "./json-object.ts";
import { metaFields, type StructuralSchema } from "./structural-schema.ts";

/**
 * @param value plain JSON, changed in place. What every resource has stays: at the root when `schema` is one, in embedded resources
 */
export function prune(value: unknown, schema: StructuralSchema): void {
  pruneValue(value, schema, undefined);
}

/** @returns the paths of what was removed, sorted, as strict field validation names them; kind, apiVersion and metadata of the root are not told */
export function pruneAndTell(value: unknown, schema: StructuralSchema): readonly string[] {
  const trail = new FieldTrail();
  pruneValue(value, schema, trail);
  return trail.found;
}

/** @param schema undefined where nothing is known, so that nothing stays */
function pruneValue(value: unknown, schema: StructuralSchema | undefined, trail: FieldTrail | undefined): void {
  if (typeof value !== "object" || value === null) return;
  if (schema?.preserveUnknownFields === true) pruneKnown(value, schema, trail);
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

/** Where unknown fields are kept, what the schema does say is pruned all the same. */
function pruneKnown(value: unknown, schema: StructuralSchema | undefined, trail: FieldTrail | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) pruneItems(value, schema.items, trail, pruneKnown);
  if (!isJsonObject(value) || (schema.properties.size === 0 && schema.additionalProperties === undefined)) return;
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
