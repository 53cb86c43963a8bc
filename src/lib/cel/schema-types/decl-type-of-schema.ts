/** Declared types from JSON schemas. Source: access-control §2.3, type mapping; k8s.io/apiserver pkg/cel/common/schemas.go and limits.go */
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

/** What a request may hold, which bounds what no schema bounds. */
export const maxRequestBytes = 3 * 1024 * 1024;

/** Formats whose values are not strings: what the expression sees, and the shortest and longest JSON of it. */
const timeFormats = new Map([
  ["duration", { type: durationType, minBytes: 3, maxLength: 32 }],
  ["date", { type: timestampType, minBytes: 12, maxLength: 12 }],
  ["date-time", { type: timestampType, minBytes: 21, maxLength: 32 }],
]);

/**
 * @param isResourceRoot adds what every resource has
 * @returns undefined when expressions cannot see the data: arrays and maps of what cannot be seen, and whatever has no type. Properties
 *   that cannot be seen, or whose name cannot be written, are left out of their object
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
  const most = Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 1)); // Brackets; a comma each.
  return listDecl(element, schema.maxItems === undefined ? most : bound(schema.maxItems));
}

function mapOf(schema: JsonSchema, values: JsonSchema): DeclType | undefined {
  const element = declTypeOfSchema(values, isEmbeddedResource(values));
  if (element === undefined) return undefined;
  const most = Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 6)); // Braces; two quotes, two letters, a colon and a comma each.
  return mapDecl(element, schema.maxProperties === undefined ? most : bound(schema.maxProperties));
}

/** The shortest JSON has all required properties but those that have a default. */
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

/** In bytes, as upstream measures it. */
function longest(values: readonly unknown[]): number {
  return values.reduce<number>(
    (most, value) => (typeof value === "string" ? Math.max(most, Buffer.byteLength(value)) : most),
    0,
  );
}

/** Of code points, each four bytes at most. */
function bytesOfLength(length: number | bigint): number {
  return bound(length) * 4;
}

function bound(limit: number | bigint): number {
  return Math.max(0, Number(limit));
}
