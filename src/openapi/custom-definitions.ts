/**
 * OpenAPI definitions of custom kinds and their lists. Schemas are published in v3 nearly unchanged, in v2 without
 * keywords that v2 or kubectl does not support. Source: `k8s.io/apiextensions-apiserver@v0.36.0`,
 * `pkg/controller/openapi/builder/builder.go`, `pkg/controller/openapi/v2/conversion.go` and `pkg/apiserver/schema`
 * (unfold.go, kubeopenapi.go).
 */
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import type { Json } from "../lib/json/values.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { type JsonSchemaProps, sortedSchemas } from "../lib/structural-schema/json-schema-props.ts";
import type { Dialect } from "./dialect.ts";
import type { CustomKind, KindName } from "./path-item.ts";

/** The parts of the definitions of built-in kinds that those of custom kinds contain. */
export interface DefinitionWriter {
  readonly dialect: Dialect;
  /** The fields `apiVersion` and `kind`. */
  typeMeta(): Json;
  /** A field `metadata` of this type. */
  metadata(type: Struct): Json;
}

/** The name of the definition: `com.example.v1.Ship` for `example.com/v1 Ship`. */
export function customDefinitionName({ group, version, kind }: KindName): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

/** The definition of a custom kind or list. */
export function customDefinition(kind: CustomKind, writer: DefinitionWriter): Json {
  const { group, version, published } = kind;
  const fields = published.selectableFields.map((fieldPath) => ({ fieldPath }));
  return {
    ...(kind.itemKind === undefined
      ? publishedBody(published.schema, writer)
      : listBody({ ...kind, itemKind: kind.itemKind }, writer)),
    "x-kubernetes-group-version-kind": [{ group, kind: kind.kind, version }],
    ...(fields.length > 0 && { "x-kubernetes-selectable-fields": fields }),
  };
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

function listBody(
  { itemKind, plural, ...list }: CustomKind & { readonly itemKind: string },
  writer: DefinitionWriter,
): Json {
  const item = { $ref: writer.dialect.references + customDefinitionName({ ...list, kind: itemKind }) };
  return {
    description: `${list.kind} is a list of ${itemKind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...writer.typeMeta(),
      items: { description: `List of ${plural}. More info: ${conventions}`, type: "array", items: item },
      metadata: writer.metadata(builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta")),
    },
  };
}

/**
 * The published definition of a custom kind.
 *
 * @param schema structural, its depth bounded by the decoder; undefined if any object is valid
 */
function publishedBody(schema: JsonSchemaProps | undefined, writer: DefinitionWriter): Json {
  if (schema === undefined) return { type: "object" };
  // v2 clients would reject fields that the schema does not have.
  if (writer.dialect.version === "v2" && keepsUnknown(schema)) return { type: "object" };
  const body = schemaBody(schema, writer);
  return { ...body, properties: sorted({ ...(body.properties as Json | undefined), ...metaProperties(writer) }) };
}

function metaProperties(writer: DefinitionWriter): Json {
  return {
    ...writer.typeMeta(),
    metadata: writer.metadata(builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")),
  };
}

const keepsUnknown = (schema: JsonSchemaProps): boolean => schema["x-kubernetes-preserve-unknown-fields"] === true;

function schemaBody(schema: JsonSchemaProps, writer: DefinitionWriter): Json {
  const converted = writer.dialect.version === "v2" ? simplified(schema) : unfolded(schema);
  const children = childBodies(converted, (child) => schemaBody(child, writer));
  const body = withoutEmpty({
    ...converted,
    ...children,
    ...(writer.dialect.version === "v2" && { default: undefined }),
  });
  if (
    converted["x-kubernetes-embedded-resource"] !== true ||
    (writer.dialect.version === "v2" && keepsUnknown(converted))
  )
    return body;
  const required = [...new Set([...(converted.required ?? []), "kind", "apiVersion"])];
  return {
    ...body,
    required,
    properties: sorted({ ...(body.properties as Json | undefined), ...metaProperties(writer) }),
  };
}

function childBodies(schema: JsonSchemaProps, bodyOf: (child: JsonSchemaProps) => Json): Json {
  const { items, properties, additionalProperties } = schema;
  return {
    ...(items !== undefined && { items: bodyOf(items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(sortedSchemas(properties).map(([name, child]) => [name, bodyOf(child)])),
    }),
    ...(typeof additionalProperties === "object" && { additionalProperties: bodyOf(additionalProperties) }),
  };
}

const integerOrString: readonly JsonSchemaProps[] = [{ type: "integer" }, { type: "string" }];

/** Adds `anyOf` integer or string to int-or-string schemas that do not have it. */
function unfolded(schema: JsonSchemaProps): JsonSchemaProps {
  if (
    schema["x-kubernetes-int-or-string"] !== true ||
    hasIntegerOrString(schema.anyOf) ||
    hasIntegerOrString(schema.allOf?.[0]?.anyOf)
  )
    return schema;
  if (schema.anyOf === undefined) return { ...schema, anyOf: integerOrString };
  return { ...schema, allOf: [{ anyOf: integerOrString }, ...(schema.allOf ?? [])] };
}

function hasIntegerOrString(anyOf: readonly JsonSchemaProps[] | undefined): boolean {
  return anyOf?.length === 2 && anyOf[0]?.type === "integer" && anyOf[1]?.type === "string";
}

function simplified(schema: JsonSchemaProps): JsonSchemaProps {
  const { allOf: _a, oneOf: _o, anyOf: _y, not: _n, ...rest } = schema;
  const vague = rest.nullable === true || keepsUnknown(rest);
  const { items, properties, ...without } = rest;
  const kept: JsonSchemaProps = vague ? without : rest;
  const untyped =
    rest.nullable === true ||
    (kept.type === "array" && kept.items === undefined) ||
    (keepsUnknown(rest) && rest.type === "object");
  const required = requiredIn(kept);
  return { ...kept, ...(untyped && { type: "" }), nullable: false, ...(required !== undefined && { required }) };
}

/** Removes nullable properties from the required ones. */
function requiredIn({ required, properties, additionalProperties }: JsonSchemaProps): readonly string[] | undefined {
  if (typeof additionalProperties === "object" && additionalProperties.nullable === true) return [];
  return required?.filter(
    (name) => properties === undefined || !Object.hasOwn(properties, name) || properties[name]?.nullable !== true,
  );
}

/** Removes what Go omits in schemas: empty strings, lists and maps, false, and null. */
function withoutEmpty(schema: JsonSchemaProps & Json): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key, value]) => !isEmpty(key, value)));
}

function isEmpty(key: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (key === "default" || key === "example") return false;
  if (value === "") return true;
  if (value === false) return key !== "additionalProperties";
  return Array.isArray(value) ? value.length === 0 : key === "properties" && Object.keys(value).length === 0;
}

function sorted(properties: Json): Json {
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}
