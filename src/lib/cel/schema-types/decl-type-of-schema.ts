/**
 * Declared types of JSON schemas. Source: Kubernetes docs, Extend the Kubernetes API with
 * CustomResourceDefinitions, Validation rules; k8s.io/apiserver@v0.36.0/pkg/cel/common/schemas.go
 */
import { bytesType, durationType, dynType, stringType, timestampType } from "../types.ts";
import {
  boolDecl,
  type DeclType,
  doubleDecl,
  intDecl,
  listDecl,
  mapDecl,
  objectDeclOf,
  scalarDecl,
} from "./decl-type.ts";
import { escapeName } from "./escape.ts";
import {
  isEmbeddedResource,
  isIntOrString,
  type JsonSchema,
  propertiesOf,
  valuesOf,
  withTypeAndObjectMeta,
} from "./json-schema.ts";

/** The maximum size of a request. It bounds data without a limit in the schema. */
export const maxRequestBytes = 3 * 1024 * 1024;

/**
 * String formats whose values have another type, with the sizes of the shortest and the longest
 * JSON.
 */
const timeFormats = new Map([
  ["duration", { type: durationType, minBytes: 3, maxLength: 32 }],
  ["date", { type: timestampType, minBytes: 12, maxLength: 12 }],
  ["date-time", { type: timestampType, minBytes: 21, maxLength: 32 }],
]);

/**
 * Returns the declared type of a schema. Properties without a declared type, or with a name that
 * cannot be escaped, are left out of their object.
 *
 * @param isResourceRoot adds `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`
 * @returns undefined if expressions cannot access the data: a schema without a type, or an array or
 *   map of such data
 */
export function declTypeOfSchema(schema: JsonSchema, isResourceRoot: boolean): DeclType | undefined {
  if (isIntOrString(schema))
    return scalarDecl(
      dynType,
      1,
      schema.maxLength === undefined ? maxRequestBytes - 2 : bytesOfLength(schema.maxLength),
    );
  switch (schema.type) {
    case "array":
      return listOf(schema);
    case "object": {
      const values = valuesOf(schema);
      return values === undefined
        ? objectOf(isResourceRoot ? withTypeAndObjectMeta(schema) : schema)
        : mapOf(schema, values);
    }
    case "string":
      return stringOf(schema);
    case "boolean":
      return boolDecl;
    case "number":
      return doubleDecl;
    case "integer":
      return intDecl;
    default:
      return undefined;
  }
}

function listOf(schema: JsonSchema): DeclType | undefined {
  const element =
    schema.items === undefined ? undefined : declTypeOfSchema(schema.items, isEmbeddedResource(schema.items));
  if (element === undefined) return undefined;
  const countMax = Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 1)); // Brackets; a comma each.
  return listDecl(element, schema.maxItems === undefined ? countMax : bound(schema.maxItems));
}

function mapOf(schema: JsonSchema, values: JsonSchema): DeclType | undefined {
  const element = declTypeOfSchema(values, isEmbeddedResource(values));
  if (element === undefined) return undefined;
  // Braces; two quotes, two letters, a colon and a comma each.
  const countMax = Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 6));
  return mapDecl(element, schema.maxProperties === undefined ? countMax : bound(schema.maxProperties));
}

/** The shortest JSON has all required properties without a default. */
function objectOf(schema: JsonSchema): DeclType {
  const required = new Set(schema.required);
  const fields = new Map<string, DeclType>();
  let minSerializedSize = 2;
  for (const [name, property] of propertiesOf(schema) ?? []) {
    const type = declTypeOfSchema(property, isEmbeddedResource(property));
    if (type === undefined) continue;
    const written = escapeName(name);
    if (written !== undefined) fields.set(written, type);
    const hasDefault = property.default !== undefined && property.default !== null;
    if (required.has(name) && !hasDefault) minSerializedSize += Buffer.byteLength(name) + type.minSerializedSize + 4;
  }
  return objectDeclOf(fields, minSerializedSize);
}

function stringOf(schema: JsonSchema): DeclType {
  const time = timeFormats.get(schema.format ?? "");
  if (time !== undefined) return scalarDecl(time.type, time.minBytes, time.maxLength);
  const isBytes = schema.format === "byte";
  if (isBytes)
    return scalarDecl(bytesType, 2, schema.maxLength === undefined ? maxRequestBytes - 2 : bound(schema.maxLength));
  if (schema.maxLength !== undefined) return scalarDecl(stringType, 2, bytesOfLength(schema.maxLength));
  return scalarDecl(
    stringType,
    2,
    schema.enum === undefined || schema.enum.length === 0 ? maxRequestBytes - 2 : longest(schema.enum),
  );
}

/** In bytes, as in Kubernetes. */
function longest(values: readonly unknown[]): number {
  return values.reduce<number>(
    (max, value) => (typeof value === "string" ? Math.max(max, Buffer.byteLength(value)) : max),
    0,
  );
}

/** A code point has at most four bytes. */
function bytesOfLength(length: number | bigint): number {
  return bound(length) * 4;
}

function bound(limit: number | bigint): number {
  return Math.max(0, Number(limit));
}
