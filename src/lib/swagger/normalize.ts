/**
 * Reads OpenAPI v2 documents of other servers as Go's decoder does: known fields in order, unknown
 * ones removed.
 * Source: https://spec.openapis.org/oas/v2.0.html.
 */
import { NumberLiteral } from "../json/number-literal.ts";
import type { Json } from "../json/values.ts";
import { isExtension, type SchemaOrShape, type Shape, type StructShape } from "./shape.ts";

/** A document that Go's decoder rejects. */
export class SwaggerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SwaggerError";
  }
}

/**
 * Returns the canonical form of a parsed document or of a part of it.
 *
 * @param value not nested deeper than the stack permits
 * @returns undefined for null
 * @throws SwaggerError when a value has another type
 */
export function normalize(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof shape === "string") return normalizeScalar(value, shape);
  switch (shape.kind) {
    case "struct":
      return normalizeStruct(objectOf(value), shape);
    case "list":
      return listOf(value).map((one) => normalize(one, shape.of()) ?? emptyOf(shape.of()));
    case "map":
      return mapObject(value, () => shape.of());
    case "keyed":
      return mapObject(value, shape.of, (key) => key !== shape.omittedWhenEmpty);
    case "schemaOr":
      return normalizeSchemaOr(value, shape);
  }
}

function normalizeScalar(value: unknown, shape: Shape & string): unknown {
  switch (shape) {
    case "any":
      return sorted(value);
    case "texts":
      return listOf(value).map((one) => typed(one ?? "", "string"));
    case "textOrTexts":
      if (typeof value === "string") return value;
      return single(listOf(value).map((one) => typed(one ?? "", "string")));
    case "text":
      return typed(value, "string");
    case "flag":
      return typed(value, "boolean");
    default:
      return typeof value === "bigint" ? value : typed(value, "number");
  }
}

/** Go encodes a list of one type as text. */
function single(texts: readonly unknown[]): unknown {
  return texts.length === 1 ? texts[0] : texts;
}

function normalizeSchemaOr(value: unknown, { otherwise, schema }: SchemaOrShape): unknown {
  if (Array.isArray(value)) {
    if (otherwise === "schemas") return value.map((one) => normalize(one, schema()) ?? {});
    if (otherwise === "texts") return normalizeScalar(value, "texts");
  }
  if (otherwise === "flag" && typeof value === "boolean") return value;
  if (otherwise !== "flag" && (typeof value !== "object" || Array.isArray(value))) return undefined;
  return normalize(value, schema());
}

function normalizeStruct(value: Record<string, unknown>, { fields, reference, unknown }: StructShape): Json {
  const members: [string, unknown][] = [];
  const $ref = reference !== undefined && typeof value.$ref === "string" && value.$ref !== "" ? value.$ref : undefined;
  if (reference === "first" && $ref !== undefined) members.push(["$ref", $ref]);
  for (const [name, { shape, keepEmpty }] of Object.entries(fields)) {
    const found = Object.hasOwn(value, name) ? normalize(value[name], shape) : undefined;
    if (found !== undefined && (keepEmpty || !isEmpty(found))) members.push([name, found]);
  }
  if (reference === "afterFields" && $ref !== undefined) members.push(["$ref", $ref]);
  if (unknown === "none") return Object.fromEntries(members);
  const others = Object.keys(value)
    .filter((key) => !Object.hasOwn(fields, key) && key !== "$ref" && (unknown === "all" || isExtension(key)))
    .sort();
  for (const key of others) members.push([key, sorted(value[key])]);
  return Object.fromEntries(members);
}

/** What Go's `omitempty` and `omitzero` omit. */
function isEmpty(value: unknown): boolean {
  if (value === false || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value as object).length === 0;
}

function emptyOf(shape: Shape): unknown {
  return shape === "any" ? null : {};
}

function mapObject(
  value: unknown,
  of: (key: string) => Shape | undefined,
  keeps: (key: string) => boolean = () => true,
): Json {
  const object = objectOf(value);
  const members: [string, unknown][] = [];
  for (const key of Object.keys(object).sort()) {
    const shape = of(key);
    if (shape === undefined) continue;
    const found = normalize(object[key], shape) ?? emptyOf(shape);
    if (keeps(key) || !isEmpty(found)) members.push([key, found]);
  }
  return Object.fromEntries(members);
}

/** Go sorts the keys of maps. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || value instanceof NumberLiteral) return value;
  const object = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((key) => [key, sorted(object[key])]),
  );
}

function typed(value: unknown, type: "string" | "boolean" | "number"): unknown {
  if (typeof value !== type) throw new SwaggerError(`expected ${type}, got ${describe(value)}`);
  return value;
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new SwaggerError(`expected object, got ${describe(value)}`);
  return value as Record<string, unknown>;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new SwaggerError(`expected array, got ${describe(value)}`);
  return value;
}

function describe(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}
