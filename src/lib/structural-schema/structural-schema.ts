/**
 * The structure of a custom resource: which fields there are, and how each is pruned, defaulted, merged and typed. What values may be
 * (`pattern`, `allOf` …) is not in it; `validate/` reads that from the source. Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema
 */
import { itemSchema, itemSchemas, type JsonSchemaProps, sortedSchemas } from "./json-schema-props.ts";

export interface StructuralSchema {
  /** `object`, `array`, `string`, `integer`, `number`, `boolean`, or empty. */
  readonly type: string;
  readonly nullable: boolean;
  /** Plain JSON, not to be changed: what takes it copies it. Undefined when there is none; null is none. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  readonly items: StructuralSchema | undefined;
  /** `true` and `false` both let any key be, and say nothing of what is there: it is emptied. */
  readonly additionalProperties: StructuralSchema | boolean | undefined;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  /** Where it was read from, whole. */
  readonly source: JsonSchemaProps;
}

/** A schema that no structure can be made of. The message is upstream's. */
export class NotStructuralError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotStructuralError";
  }
}

const noProperties: ReadonlyMap<string, StructuralSchema> = new Map();
const noKeys: readonly string[] = [];

/**
 * Reads the structure of a schema. That it keeps the rules of structural schemas is another question.
 * @param source decoded, so that it nests no deeper than decoding keeps
 * @throws NotStructuralError for constructs that have no place in one (`$ref`, `definitions`, lists of item schemas …), the first met
 */
export function parseStructuralSchema(source: JsonSchemaProps): StructuralSchema {
  checkConstructs(source);
  for (const nested of junctorsOf(source)) checkNested(nested);
  checkPreserveUnknownFields(source);
  if (itemSchemas(source).length > 0)
    throw new NotStructuralError("OpenAPIV3Schema 'items' must be a schema, but is an array");
  const items = itemSchema(source);
  const additional = source.additionalProperties;
  return {
    type: source.type ?? "",
    nullable: source.nullable === true,
    default: source.default ?? undefined,
    items: items && parseStructuralSchema(items),
    properties: parseProperties(source),
    additionalProperties: typeof additional === "object" ? parseStructuralSchema(additional) : additional,
    preserveUnknownFields: source["x-kubernetes-preserve-unknown-fields"] === true,
    embeddedResource: source["x-kubernetes-embedded-resource"] === true,
    intOrString: source["x-kubernetes-int-or-string"] === true,
    listType: source["x-kubernetes-list-type"],
    listMapKeys: source["x-kubernetes-list-map-keys"] ?? noKeys,
    mapType: source["x-kubernetes-map-type"],
    source,
  };
}

function parseProperties(source: JsonSchemaProps): ReadonlyMap<string, StructuralSchema> {
  const entries = sortedSchemas(source.properties);
  return entries.length === 0
    ? noProperties
    : new Map(entries.map(([name, property]) => [name, parseStructuralSchema(property)]));
}

function checkNested(source: JsonSchemaProps): void {
  checkConstructs(source);
  for (const nested of junctorsOf(source)) checkNested(nested);
  checkPreserveUnknownFields(source);
  if (itemSchemas(source).length > 0)
    throw new NotStructuralError("OpenAPIV3Schema 'items' must be a schema, but is an array");
  const items = itemSchema(source);
  if (items !== undefined) checkNested(items);
  for (const [, property] of sortedSchemas(source.properties)) checkNested(property);
  if (typeof source.additionalProperties === "object") checkNested(source.additionalProperties);
}

function junctorsOf({ not, allOf = [], anyOf = [], oneOf = [] }: JsonSchemaProps): readonly JsonSchemaProps[] {
  return not === undefined ? [...allOf, ...anyOf, ...oneOf] : [not, ...allOf, ...anyOf, ...oneOf];
}

/** By the names that messages have for them, in the order in which they are looked for. */
const unsupported: readonly (readonly [name: string, key: keyof JsonSchemaProps])[] = [
  ["id", "id"],
  ["schema", "$schema"],
  ["$ref", "$ref"],
  ["patternProperties", "patternProperties"],
  ["dependencies", "dependencies"],
  ["additionalItems", "additionalItems"],
  ["definitions", "definitions"],
];

function checkConstructs(source: JsonSchemaProps): void {
  for (const [name, key] of unsupported) {
    const value = source[key];
    if (value === undefined || value === null || value === "") continue;
    const isEmptyMap = key !== "additionalItems" && typeof value === "object" && Object.keys(value).length === 0;
    if (!isEmptyMap) throw new NotStructuralError(`OpenAPIV3Schema '${name}' is not supported`);
  }
}

function checkPreserveUnknownFields(source: JsonSchemaProps): void {
  if (source["x-kubernetes-preserve-unknown-fields"] !== false) return;
  throw new NotStructuralError("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined");
}

/** The schema of a field, by its name or as one of all others. */
export function fieldSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const property = schema.properties.get(name);
  if (property !== undefined) return property;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The root of a resource is one that is embedded in nothing. */
export function asResourceRoot(schema: StructuralSchema): StructuralSchema {
  if (schema.embeddedResource) return schema;
  let root = roots.get(schema);
  if (root === undefined) {
    root = { ...schema, embeddedResource: true };
    roots.set(schema, root);
  }
  return root;
}

const roots = new WeakMap<StructuralSchema, StructuralSchema>();

/** What every object has, whatever its schema says of it. */
export const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Fields of a kind, and keys of a map, as field errors name them. */
export function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function keyPath(path: string, key: string): string {
  return `${path}[${key}]`;
}
