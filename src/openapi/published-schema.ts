/**
 * The schema of a custom resource as it is published: in v3 nearly as it was written, in v2 without all that v2, or kubectl reading it, does not
 * understand. Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema (unfold, kubeopenapi), pkg/controller/openapi/v2.
 */

import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { type JsonSchemaProps, sortedSchemas } from "../lib/structural-schema/json-schema-props.ts";
import type { DefinitionWriter } from "./definitions.ts";
import type { Json } from "./dialect.ts";

/** @param schema structural, nested as deep as decoding allows; undefined: any object */
export function publishedBody(schema: JsonSchemaProps | undefined, writer: DefinitionWriter): Json {
  if (schema === undefined) return { type: "object" };
  // Clients would take the known fields for all there are.
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
  const shown = writer.dialect.version === "v2" ? simplified(schema) : unfolded(schema);
  const children = childBodies(shown, (child) => schemaBody(child, writer));
  const body = withoutEmpty({ ...shown, ...children, ...(writer.dialect.version === "v2" && { default: undefined }) });
  if (shown["x-kubernetes-embedded-resource"] !== true || (writer.dialect.version === "v2" && keepsUnknown(shown)))
    return body;
  const required = [...new Set([...(shown.required ?? []), "kind", "apiVersion"])];
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

/** Says of an integer or a text that it is either, as far as its author has not. */
function unfolded(schema: JsonSchemaProps): JsonSchemaProps {
  if (schema["x-kubernetes-int-or-string"] !== true || saysEither(schema.anyOf) || saysEither(schema.allOf?.[0]?.anyOf))
    return schema;
  if (schema.anyOf === undefined) return { ...schema, anyOf: integerOrString };
  return { ...schema, allOf: [{ anyOf: integerOrString }, ...(schema.allOf ?? [])] };
}

function saysEither(anyOf: readonly JsonSchemaProps[] | undefined): boolean {
  return anyOf?.length === 2 && anyOf[0]?.type === "integer" && anyOf[1]?.type === "string";
}

function simplified(schema: JsonSchemaProps): JsonSchemaProps {
  const { allOf: _a, oneOf: _o, anyOf: _y, not: _n, ...rest } = schema;
  const vague = rest.nullable === true || keepsUnknown(rest);
  const { items, properties, ...without } = rest;
  const shown: JsonSchemaProps = vague ? without : rest;
  const untyped =
    rest.nullable === true ||
    (shown.type === "array" && shown.items === undefined) ||
    (keepsUnknown(rest) && rest.type === "object");
  const required = requiredIn(shown);
  return { ...shown, ...(untyped && { type: "" }), nullable: false, ...(required !== undefined && { required }) };
}

/** What may be null need not be there. */
function requiredIn({ required, properties, additionalProperties }: JsonSchemaProps): readonly string[] | undefined {
  if (typeof additionalProperties === "object" && additionalProperties.nullable === true) return [];
  return required?.filter(
    (name) => properties === undefined || !Object.hasOwn(properties, name) || properties[name]?.nullable !== true,
  );
}

/** What Go leaves out when it writes a schema: empty texts, lists and maps, false, and null. */
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
