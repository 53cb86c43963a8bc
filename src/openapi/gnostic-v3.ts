/**
 * gnostic's `openapi.v3` messages, restricted to the fields that documents of API servers use.
 */
import {
  any,
  boolean,
  double,
  entries,
  integer,
  message,
  messageOf,
  oneOf,
  orBoolean,
  repeated,
  responses,
  text,
  type WriteMessage,
} from "./gnostic.ts";

/** Fields of `Document` and `Components` whose entries are encoded separately. */
export const documentV3 = { paths: 4, path: 1, components: 5, schemas: 1, schema: 1 } as const;

const has = (value: unknown, key: string): boolean => Object.hasOwn(value as object, key);

const reference = messageOf(() => ({ $ref: text(1) }));
export const schemaV3: WriteMessage = oneOf((value) =>
  has(value, "$ref") ? message(2, reference) : message(1, schema),
);
const single = message(1, schemaV3);

/**
 * A default is a number, a boolean or a string; gnostic encodes any other default as an empty
 * message.
 */
const defaultType: WriteMessage = (value, writer) => {
  if (typeof value === "number") double(1)(value, writer);
  else if (typeof value === "boolean") boolean(2)(value, writer);
  else if (typeof value === "string") text(3)(value, writer);
};

const externalDocs = messageOf(() => ({ description: text(1), url: text(2) }));

const schema: WriteMessage = messageOf(
  () => ({
    nullable: boolean(1),
    externalDocs: message(6, externalDocs),
    example: any(7),
    title: text(9),
    multipleOf: double(10),
    maximum: double(11),
    exclusiveMaximum: boolean(12),
    minimum: double(13),
    exclusiveMinimum: boolean(14),
    maxLength: integer(15),
    minLength: integer(16),
    pattern: text(17),
    maxItems: integer(18),
    minItems: integer(19),
    uniqueItems: boolean(20),
    maxProperties: integer(21),
    minProperties: integer(22),
    required: repeated(text(23)),
    enum: repeated(any(24)),
    type: text(25),
    allOf: repeated(message(26, schemaV3)),
    oneOf: repeated(message(27, schemaV3)),
    anyOf: repeated(message(28, schemaV3)),
    not: message(29, (value, writer) => schema(value, writer)),
    items: message(30, (value, writer) => single(value, writer)),
    properties: message(31, entries(1, schemaV3)),
    additionalProperties: message(32, orBoolean(single)),
    default: message(33, defaultType),
    description: text(34),
    format: text(35),
  }),
  36,
);

const mediaType = messageOf(() => ({ schema: message(1, schemaV3) }));
const parameter = messageOf(
  () => ({
    name: text(1),
    in: text(2),
    description: text(3),
    required: boolean(4),
    allowEmptyValue: boolean(6),
    schema: message(10, schemaV3),
  }),
  14,
);
const parameterOrReference: WriteMessage = oneOf((value) =>
  has(value, "$ref") ? message(2, reference) : message(1, parameter),
);
const requestBody = messageOf(() => ({ content: message(2, entries(1, mediaType)), required: boolean(3) }));
const requestBodyOrReference: WriteMessage = (value, writer) => message(1, requestBody)(value, writer);
const response = messageOf(() => ({ description: text(1), content: message(3, entries(1, mediaType)) }), 5);
const responseOrReference: WriteMessage = oneOf((value) =>
  has(value, "$ref") ? message(2, reference) : message(1, response),
);

const operation = messageOf(
  () => ({
    tags: repeated(text(1)),
    summary: text(2),
    description: text(3),
    externalDocs: message(4, externalDocs),
    operationId: text(5),
    parameters: repeated(message(6, parameterOrReference)),
    requestBody: message(7, requestBodyOrReference),
    responses: message(8, responses({ codes: 2, extensions: 3, byDefault: 1 }, responseOrReference)),
    deprecated: boolean(10),
  }),
  13,
);

export const pathItemV3: WriteMessage = messageOf(
  () => ({
    $ref: text(1),
    get: message(4, operation),
    put: message(5, operation),
    post: message(6, operation),
    delete: message(7, operation),
    options: message(8, operation),
    head: message(9, operation),
    patch: message(10, operation),
    parameters: repeated(message(13, parameterOrReference)),
  }),
  14,
);

const info = messageOf(() => ({ title: text(1), description: text(2), version: text(6) }), 7);
const securityScheme = messageOf(() => ({ type: text(1), description: text(2), name: text(3), in: text(4) }));

/** The parts of the document before the paths and after the schemas. */
export const documentHeadV3: WriteMessage = messageOf(() => ({ openapi: text(1), info: message(2, info) }));
export const componentsTailV3: WriteMessage = messageOf(() => ({
  securitySchemes: message(
    7,
    entries(1, (value, writer) => message(1, securityScheme)(value, writer)),
  ),
}));
