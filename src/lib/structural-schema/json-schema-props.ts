/** An entry of `x-kubernetes-validations`. Source: Kubernetes docs, "CustomResourceDefinition", JSONSchemaProps. */
export interface SchemaRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/**
 * A schema of a CustomResourceDefinition (apiextensions.k8s.io/v1 `JSONSchemaProps`): decoded,
 * immutable plain JSON. `lib/cel` accepts it as a schema.
 */
export interface JsonSchemaProps {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: number | bigint;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number | bigint;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number | bigint;
  readonly minLength?: number | bigint;
  readonly pattern?: string;
  readonly maxItems?: number | bigint;
  readonly minItems?: number | bigint;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number | bigint;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: number | bigint;
  readonly minProperties?: number | bigint;
  readonly required?: readonly string[];
  /** A list of schemas is decoded, and rejected later. */
  readonly items?: JsonSchemaProps;
  readonly allOf?: readonly JsonSchemaProps[];
  readonly oneOf?: readonly JsonSchemaProps[];
  readonly anyOf?: readonly JsonSchemaProps[];
  readonly not?: JsonSchemaProps;
  readonly properties?: SchemaMap;
  readonly additionalProperties?: JsonSchemaProps | boolean;
  readonly patternProperties?: SchemaMap;
  /** Values are schemas, or lists of names. */
  readonly dependencies?: { readonly [name: string]: JsonSchemaProps | readonly string[] };
  readonly additionalItems?: JsonSchemaProps | boolean;
  readonly definitions?: SchemaMap;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly SchemaRule[];
}

/** Schemas by name. */
export interface SchemaMap {
  readonly [name: string]: JsonSchemaProps;
}

/** Sorts schemas by name, so that errors have a stable order (upstream's order is random). */
export function sortedSchemas(schemas: SchemaMap | undefined): [name: string, schema: JsonSchemaProps][] {
  if (schemas === undefined) return [];
  const entries = Object.entries(schemas);
  // Stored definitions are already sorted.
  const isSorted = entries.every(([name], index) => index === 0 || (entries[index - 1] as [string, unknown])[0] < name);
  return isSorted ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * The schemas of `items` when it is a list, which structural schemas do not allow; otherwise empty.
 */
export function itemSchemas(schema: JsonSchemaProps): readonly JsonSchemaProps[] {
  return Array.isArray(schema.items) ? schema.items : [];
}

/** The schema of `items` when it is a single schema. */
export function itemSchema(schema: JsonSchemaProps): JsonSchemaProps | undefined {
  return Array.isArray(schema.items) ? undefined : schema.items;
}

/** The schema of properties that are not declared by name. */
export function valueSchema({ additionalProperties }: JsonSchemaProps): JsonSchemaProps | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** Whether `found` returns true for a schema or any schema nested in it. */
export function schemaHas(schema: JsonSchemaProps | undefined, found: (schema: JsonSchemaProps) => boolean): boolean {
  if (schema === undefined) return false;
  if (found(schema)) return true;
  const {
    allOf,
    anyOf,
    oneOf,
    not,
    properties,
    additionalProperties,
    patternProperties,
    additionalItems,
    definitions,
    dependencies,
  } = schema;
  const inList = (list: readonly JsonSchemaProps[] | undefined): boolean =>
    list?.some((child) => schemaHas(child, found)) === true;
  const inMap = (map: SchemaMap | undefined): boolean => map !== undefined && inList(Object.values(map));
  const inEither = (either: unknown): boolean =>
    typeof either === "object" && !Array.isArray(either) && schemaHas(either as JsonSchemaProps, found);
  if (
    schemaHas(itemSchema(schema), found) ||
    inList(itemSchemas(schema)) ||
    inList(allOf) ||
    inList(anyOf) ||
    inList(oneOf)
  )
    return true;
  if (schemaHas(not, found) || inMap(properties) || inEither(additionalProperties)) return true;
  return (
    inMap(patternProperties) ||
    inEither(additionalItems) ||
    inMap(definitions) ||
    Object.values(dependencies ?? {}).some(inEither)
  );
}
