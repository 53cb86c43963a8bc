/**
 * The types of OpenAPI v2 with their fields in the order of Go's encoder. Source:
 * `k8s.io/kube-openapi@v0.0.0-20260317180543-43fb72c5454a/pkg/validation/spec`.
 */
import { type FieldShape, field, isExtension, kept, listOf, mapOf, type Shape, type StructShape } from "./shape.ts";

const schemas: Shape = listOf(() => schemaShape);
const namedSchemas: Shape = mapOf(() => schemaShape);
const schemaOr = (otherwise: "flag" | "schemas" | "texts"): Shape => ({
  kind: "schemaOr",
  otherwise,
  schema: () => schemaShape,
});

const externalDocs: StructShape = {
  kind: "struct",
  fields: { description: field("text"), url: field("text") },
  unknown: "none",
};

/** Limits of values, also of parameters and headers. */
const validations: Readonly<Record<string, FieldShape>> = {
  maximum: field("number"),
  exclusiveMaximum: field("flag"),
  minimum: field("number"),
  exclusiveMinimum: field("flag"),
  maxLength: field("integer"),
  minLength: field("integer"),
  pattern: field("text"),
  maxItems: field("integer"),
  minItems: field("integer"),
  uniqueItems: field("flag"),
  multipleOf: field("number"),
  enum: field(listOf(() => "any")),
};

/** A schema. */
export const schemaShape: StructShape = {
  kind: "struct",
  fields: {
    id: field("text"),
    description: field("text"),
    type: kept("textOrTexts"),
    nullable: field("flag"),
    format: field("text"),
    title: field("text"),
    default: kept("any"),
    ...validations,
    maxProperties: field("integer"),
    minProperties: field("integer"),
    required: field("texts"),
    items: kept(schemaOr("schemas")),
    allOf: field(schemas),
    oneOf: field(schemas),
    anyOf: field(schemas),
    get not(): FieldShape {
      return kept(schemaShape);
    },
    properties: field(namedSchemas),
    additionalProperties: kept(schemaOr("flag")),
    patternProperties: field(namedSchemas),
    dependencies: field(mapOf(() => schemaOr("texts"))),
    additionalItems: kept(schemaOr("flag")),
    definitions: field(namedSchemas),
    discriminator: field("text"),
    readOnly: field("flag"),
    externalDocs: kept(externalDocs),
    example: field("any"),
    $schema: field("text"),
  },
  reference: "afterFields",
  unknown: "all",
};

const simpleSchema: Readonly<Record<string, FieldShape>> = {
  type: field("text"),
  nullable: field("flag"),
  format: field("text"),
  get items(): FieldShape {
    return kept(itemsShape);
  },
  collectionFormat: field("text"),
  default: field("any"),
  example: field("any"),
};

/** Copies the members with their getters, which refer to later constants. */
const withFields = (...parts: readonly Readonly<Record<string, FieldShape>>[]): Record<string, FieldShape> =>
  Object.defineProperties({}, Object.assign({}, ...parts.map((part) => Object.getOwnPropertyDescriptors(part))));

const itemsShape: StructShape = {
  kind: "struct",
  fields: withFields(validations, simpleSchema),
  reference: "afterFields",
  unknown: "extensions",
};

/** A parameter. */
export const parameterShape: StructShape = {
  kind: "struct",
  fields: withFields(validations, simpleSchema, {
    description: field("text"),
    name: field("text"),
    in: field("text"),
    required: field("flag"),
    schema: kept(schemaShape),
    allowEmptyValue: field("flag"),
  }),
  reference: "afterFields",
  unknown: "extensions",
};

const headerShape: StructShape = {
  kind: "struct",
  fields: withFields(validations, simpleSchema, { description: field("text") }),
  unknown: "extensions",
};

/** A response. */
const responseShape: StructShape = {
  kind: "struct",
  fields: {
    description: field("text"),
    schema: kept(schemaShape),
    headers: field(mapOf(() => headerShape)),
    examples: field(mapOf(() => "any")),
  },
  reference: "first",
  unknown: "extensions",
};

const responsesShape: Shape = {
  kind: "keyed",
  omittedWhenEmpty: "default",
  of: (key) => (isExtension(key) ? "any" : key === "default" || /^\d+$/.test(key) ? responseShape : undefined),
};

const security: Shape = listOf(() => mapOf(() => "texts"));

const operationShape: StructShape = {
  kind: "struct",
  fields: {
    description: field("text"),
    consumes: field("texts"),
    produces: field("texts"),
    schemes: field("texts"),
    tags: field("texts"),
    summary: field("text"),
    externalDocs: kept(externalDocs),
    operationId: field("text"),
    deprecated: field("flag"),
    security: field(security),
    parameters: field(listOf(() => parameterShape)),
    responses: kept(responsesShape),
  },
  unknown: "extensions",
};

/** A path. */
export const pathItemShape: StructShape = {
  kind: "struct",
  fields: {
    get: field(operationShape),
    put: field(operationShape),
    post: field(operationShape),
    delete: field(operationShape),
    options: field(operationShape),
    head: field(operationShape),
    patch: field(operationShape),
    parameters: field(listOf(() => parameterShape)),
  },
  reference: "first",
  unknown: "extensions",
};

const strings = (...names: readonly string[]): StructShape["fields"] =>
  Object.fromEntries(names.map((name) => [name, field("text")]));

const infoShape: StructShape = {
  kind: "struct",
  fields: {
    ...strings("description", "title", "termsOfService"),
    contact: field({ kind: "struct", fields: strings("name", "url", "email"), unknown: "none" }),
    license: field({ kind: "struct", fields: strings("name", "url"), unknown: "none" }),
    version: field("text"),
  },
  unknown: "extensions",
};

const securityScheme: StructShape = {
  kind: "struct",
  fields: {
    description: field("text"),
    type: kept("text"),
    ...strings("name", "in", "flow", "authorizationUrl", "tokenUrl"),
    scopes: field(mapOf(() => "text")),
  },
  unknown: "extensions",
};

const tag: StructShape = {
  kind: "struct",
  fields: { ...strings("description", "name"), externalDocs: field(externalDocs) },
  unknown: "extensions",
};

/** A document. */
export const documentShape: StructShape = {
  kind: "struct",
  fields: {
    id: field("text"),
    consumes: field("texts"),
    produces: field("texts"),
    schemes: field("texts"),
    ...strings("swagger"),
    info: field(infoShape),
    ...strings("host", "basePath"),
    paths: kept({
      kind: "keyed",
      of: (key) => (isExtension(key) ? "any" : key.startsWith("/") ? pathItemShape : undefined),
    }),
    definitions: field(namedSchemas),
    parameters: field(mapOf(() => parameterShape)),
    responses: field(mapOf(() => responseShape)),
    securityDefinitions: field(mapOf(() => securityScheme)),
    security: field(security),
    tags: field(listOf(() => tag)),
    externalDocs: field(externalDocs),
  },
  unknown: "extensions",
};
