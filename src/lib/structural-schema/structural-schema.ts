import { itemSchema, itemSchemas, type JsonSchemaProps, sortedSchemas } from "./json-schema-props.ts";

/**
 * The structure of a custom resource: its fields, and how each is pruned, defaulted, merged and
 * typed. It does not include value checks (`pattern`, `allOf` …), which `validate/` reads from the
 * source.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/structural.go
 */
export interface StructuralSchema {
  /** `object`, `array`, `string`, `integer`, `number`, `boolean`, or empty. */
  readonly type: string;
  readonly nullable: boolean;
  /** Immutable plain JSON that callers must copy; undefined when absent or null. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  readonly items: StructuralSchema | undefined;
  /**
   * Both `true` and `false` allow any key; the values are not described, so their fields are
   * pruned.
   */
  readonly additionalProperties: StructuralSchema | boolean | undefined;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listType: string | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: string | undefined;
  /** The complete schema that this was parsed from. */
  readonly source: JsonSchemaProps;
}

/** A schema that has no structural form. The message is upstream's. */
export class NotStructuralError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotStructuralError";
  }
}

const noProperties: ReadonlyMap<string, StructuralSchema> = new Map();
const noKeys: readonly string[] = [];

/**
 * Parses the structure of a schema. Does not check the rules of structural schemas.
 * @param source a decoded schema, whose nesting the decoder has limited
 * @throws NotStructuralError for the first construct that is not supported, such as `$ref`,
 *   `definitions` or a list of item schemas
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

/** Unsupported constructs with their names in messages, in the order in which they are checked. */
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

/** The schema of a field: its property, or else `additionalProperties`. */
export function fieldSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const property = schema.properties.get(name);
  if (property !== undefined) return property;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The schema of a resource's root, which is treated like an embedded resource. */
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

/** The fields that every object has, regardless of its schema. */
export const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Appends a field to a path in the form of field errors: `spec.list`. */
export function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Appends the key of a map to a path in the form of field errors: `spec.labels[a]`. */
export function keyPath(path: string, key: string): string {
  return `${path}[${key}]`;
}
