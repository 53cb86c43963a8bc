/**
 * The keywords of `JSONSchemaProps` that determine types and values of expressions. Schemas are
 * parsed JSON and must not be changed after use.
 */

/** An item of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A schema; other keywords are ignored. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly maxLength?: number | bigint;
  readonly maxItems?: number | bigint;
  readonly maxProperties?: number | bigint;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

const intOrStringFormat = "int-or-string";

/**
 * Whether values are integers or strings: a format in built-in types, an extension in custom
 * resources.
 */
export function isIntOrString(schema: JsonSchema): boolean {
  return schema["x-kubernetes-int-or-string"] === true || schema.format === intOrStringFormat;
}

/** Whether the schema is that of an embedded resource. */
export function isEmbeddedResource(schema: JsonSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

/** @returns undefined for an object without properties */
export function propertiesOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema> | undefined {
  const entries = Object.entries(schema.properties ?? {});
  return entries.length === 0 ? undefined : new Map(entries);
}

/** @returns the schema of a map's values; undefined if `additionalProperties` is not a schema */
export function valuesOf(schema: JsonSchema): JsonSchema | undefined {
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

const text: JsonSchema = { type: "string" };
const metadata: JsonSchema = { type: "object", properties: { name: text, generateName: text } };

/**
 * Adds `apiVersion`, `kind`, `metadata.name` and `metadata.generateName` to the schema of a
 * resource or an embedded resource. Source: k8s.io/apiserver@v0.36.0/pkg/cel/common/schemas.go,
 * WithTypeAndObjectMeta
 */
export function withTypeAndObjectMeta(schema: JsonSchema): JsonSchema {
  const declared = propertiesOf(schema);
  const existing = declared?.get("metadata");
  const within = existing?.type === "object" ? propertiesOf(existing) : undefined;
  const required = [
    declared?.get("kind"),
    declared?.get("apiVersion"),
    within?.get("name"),
    within?.get("generateName"),
  ];
  if (required.every((property) => property?.type === "string")) return schema;
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata } };
}
