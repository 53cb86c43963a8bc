/**
 * Finds defaults with fields that are not in their schema.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/defaulting/prune.go
 */

import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { cloneJson, identical, isObject } from "../../lib/json/values.ts";
import { coerceMetadata } from "../../lib/structural-schema/coerce-metadata.ts";
import { type JsonSchemaProps, schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import { prune } from "../../lib/structural-schema/prune.ts";
import {
  asResourceRoot,
  NotStructuralError,
  parseStructuralSchema,
  type StructuralSchema,
} from "../../lib/structural-schema/structural-schema.ts";
import { isStructural } from "./structural-rules.ts";
import { type Steps, surround, within } from "./surrounding.ts";

/** The schema of ObjectMeta. */
export const objectMetaSchema = (): ReturnType<typeof builtinSchema> =>
  builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");

/** @returns false for a schema that is not structural */
export function hasUnprunedDefaults(schema: JsonSchemaProps): boolean {
  if (!schemaHas(schema, ({ default: value }) => (value ?? undefined) !== undefined) || !isStructural(schema))
    return false;
  try {
    const root = parseStructuralSchema(schema);
    return isUnpruned(root, asResourceRoot(root), []);
  } catch (error) {
    if (error instanceof NotStructuralError) return false;
    throw error;
  }
}

function isUnpruned(schema: StructuralSchema, root: StructuralSchema, steps: Steps): boolean {
  if (schema.default !== undefined && changesByPruning(schema.default, root, steps)) return true;
  const { items, additionalProperties: values } = schema;
  if (typeof values === "object" && isUnpruned(values, root, [...steps, "*"])) return true;
  if (items !== undefined && isUnpruned(items, root, [...steps, undefined])) return true;
  return [...schema.properties].some(([name, property]) => isUnpruned(property, root, [...steps, name]));
}

function changesByPruning(value: unknown, root: StructuralSchema, steps: Steps): boolean {
  const object = surround(cloneJson(value), steps);
  if (!isObject(object)) return false;
  coerceMetadata(object, root, "", { objectMeta: objectMetaSchema(), invalid: "drop" });
  prune(object, root);
  return !identical(within(object, steps), value);
}
