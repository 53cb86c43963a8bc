/**
 * The part of JSON schema, as CustomResourceDefinitions write it (`JSONSchemaProps`), that the types and values of expressions come from.
 * Plain parsed JSON will do: nothing is read but what is named here. A schema that is read is not changed afterwards.
 */

/** One of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

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

/** Built-in types say it by their format, custom resources by the extension. */
export function isIntOrString(schema: JsonSchema): boolean {
  return schema["x-kubernetes-int-or-string"] === true || schema.format === intOrStringFormat;
}

export function isEmbeddedResource(schema: JsonSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

/** Undefined when there are none: an object without properties is another thing than one whose properties are known. */
export function propertiesOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema> | undefined {
  const entries = Object.entries(schema.properties ?? {});
  return entries.length === 0 ? undefined : new Map(entries);
}

/** The schema of a map's values; undefined when there is none, also when all values are allowed. */
export function valuesOf(schema: JsonSchema): JsonSchema | undefined {
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

const text: JsonSchema = { type: "string" };
const metadata: JsonSchema = { type: "object", properties: { name: text, generateName: text } };

/**
 * The root of a resource, embedded ones included: what every resource has can be used although the schema does not say it.
 * Source: k8s.io/apiextensions-apiserver, WithTypeAndObjectMeta
 */
export function withTypeAndObjectMeta(schema: JsonSchema): JsonSchema {
  const declared = propertiesOf(schema);
  const named = declared === undefined ? undefined : declared.get("metadata");
  const within = named?.type === "object" ? propertiesOf(named) : undefined;
  const known = [declared?.get("kind"), declared?.get("apiVersion"), within?.get("name"), within?.get("generateName")];
  if (known.every((property) => property?.type === "string")) return schema;
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata } };
}
