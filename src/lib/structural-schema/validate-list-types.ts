/**
 * Checks that items of sets are unique, and that keys of items of map lists are unique.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/listtype/validation.go
 */

import { encodeSorted } from "../json/encode-any.ts";
import { NumberLiteral } from "../json/number-literal.ts";
import { isObject } from "../json/values.ts";
import type { ErrorSink } from "./error-sink.ts";
import { type JsonObject, memberOf } from "./json-object.ts";
import { sortKeys } from "./sort-keys.ts";
import { childPath, keyPath, type StructuralSchema } from "./structural-schema.ts";

/**
 * Validates the lists of an object.
 * @param value a value whose schema is an object
 * @param path empty at the root of a resource
 */
export function validateListTypes(value: unknown, schema: StructuralSchema, path: string, errors: ErrorSink): void {
  if (hasListTypes(schema)) checkFields(value, schema, path, errors);
}

function checkValue(value: unknown, schema: StructuralSchema, path: string, errors: ErrorSink): void {
  if (Array.isArray(value)) checkList(value, schema, path, errors);
  else checkFields(value, schema, path, errors);
}

function checkFields(value: unknown, schema: StructuralSchema, path: string, errors: ErrorSink): void {
  if (!isObject(value)) return;
  const values = schema.additionalProperties;
  if (typeof values === "object" && hasListTypes(values)) {
    for (const key of Object.keys(value).sort()) checkValue(value[key], values, keyPath(path, key), errors);
  }
  for (const [name, property] of schema.properties) {
    if (hasListTypes(property) && Object.hasOwn(value, name))
      checkValue(value[name], property, childPath(path, name), errors);
  }
}

function checkList(list: readonly unknown[], schema: StructuralSchema, path: string, errors: ErrorSink): void {
  if (schema.listType === "set")
    for (const index of repeated(list)) errors.duplicate(`${path}[${index}]`, sortKeys(list[index]));
  if (schema.listType === "map") checkMapKeys(list, schema.listMapKeys, path, errors);
  const { items } = schema;
  if (items === undefined || !hasListTypes(items)) return;
  for (const [index, item] of list.entries()) checkValue(item, items, `${path}[${index}]`, errors);
}

function checkMapKeys(list: readonly unknown[], keys: readonly string[], path: string, errors: ErrorSink): void {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong !== -1) {
    errors.invalid(`${path}[${wrong}]`, sortKeys(list[wrong]), "must be an object for an array of list-type map");
    return;
  }
  if (list.length <= 1) return;
  const found = list.map((item) => keysOf(item as JsonObject | null, keys));
  const [only] = keys;
  const compared = keys.length === 1 ? found.map((key) => memberOf(key, only as string)) : found;
  for (const index of repeated(compared)) errors.duplicate(`${path}[${index}]`, sortKeys(found[index]));
}

function keysOf(item: JsonObject | null, keys: readonly string[]): JsonObject {
  if (item === null) return {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, memberOf(item, key)]));
}

/** The index of the second occurrence of each repeated value. */
function repeated(list: readonly unknown[]): number[] {
  if (list.length <= 1) return [];
  const timesSeen = new Map<unknown, number>();
  const indices: number[] = [];
  for (const [index, item] of list.entries()) {
    const key = typeof item === "object" && item !== null ? textOf(item) : item;
    const times = timesSeen.get(key) ?? 0;
    timesSeen.set(key, times + 1);
    if (times === 1) indices.push(index);
  }
  return indices;
}

/** A text that no other scalar equals. */
function textOf(item: object): string {
  return `\u0000${item instanceof NumberLiteral ? "float " : ""}${encodeSorted(item)}`;
}

const listTypes = new WeakMap<StructuralSchema, boolean>();

/** Whether the schema or a nested one is a set or a map list; computed once. */
function hasListTypes(schema: StructuralSchema): boolean {
  const cached = listTypes.get(schema);
  if (cached !== undefined) return cached;
  const { items, additionalProperties: values } = schema;
  const has =
    schema.listType === "set" ||
    schema.listType === "map" ||
    (items !== undefined && hasListTypes(items)) ||
    (typeof values === "object" && hasListTypes(values)) ||
    [...schema.properties.values()].some(hasListTypes);
  listTypes.set(schema, has);
  return has;
}
