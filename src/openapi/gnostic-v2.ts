/** gnostic's `openapi.v2` messages, restricted to the fields that these documents use. */
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
  text,
  texts,
  type WriteMessage,
} from "./gnostic.ts";

/** Fields of `Document` whose entries are encoded separately. */
export const documentV2 = { paths: 8, path: 2, definitions: 9, definition: 1, parameters: 10, parameter: 1 } as const;

const has = (value: unknown, key: string): boolean => Object.hasOwn(value as object, key);

const jsonReference = messageOf(() => ({ $ref: text(1) }));

const externalDocs = messageOf(() => ({ description: text(1), url: text(2) }));

export const schemaV2: WriteMessage = messageOf(
  () => ({
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: any(5),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: boolean(8),
    minimum: double(9),
    exclusiveMinimum: boolean(10),
    maxLength: integer(11),
    minLength: integer(12),
    pattern: text(13),
    maxItems: integer(14),
    minItems: integer(15),
    uniqueItems: boolean(16),
    maxProperties: integer(17),
    minProperties: integer(18),
    required: repeated(text(19)),
    enum: repeated(any(20)),
    additionalProperties: message(21, orBoolean(message(1, (value, writer) => schemaV2(value, writer)))),
    type: message(22, (value, writer) => text(1)(value, writer)),
    items: message(23, (value, writer) => message(1, schemaV2)(value, writer)),
    allOf: repeated(message(24, schemaV2)),
    properties: message(25, entries(1, schemaV2)),
    externalDocs: message(29, externalDocs),
    example: any(30),
  }),
  31,
);

const bodyParameter = messageOf(
  () => ({ description: text(1), name: text(2), in: text(3), required: boolean(4), schema: message(5, schemaV2) }),
  6,
);
const queryParameter = messageOf(
  () => ({
    required: boolean(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(6),
    format: text(7),
    uniqueItems: boolean(20),
  }),
  23,
);
const pathParameter = messageOf(
  () => ({
    required: boolean(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(5),
    format: text(6),
    uniqueItems: boolean(19),
  }),
  22,
);

/** A BodyParameter or NonBodyParameter. */
export const parameterV2: WriteMessage = oneOf((value) => {
  const place = (value as { in: string }).in;
  if (place === "body") return message(1, bodyParameter);
  const other = place === "query" ? message(3, queryParameter) : message(4, pathParameter);
  return message(2, (one, writer) => other(one, writer));
});

const parametersItem = oneOf((value) => (has(value, "$ref") ? message(2, jsonReference) : message(1, parameterV2)));

const schemaItem: WriteMessage = (value, writer) => message(1, schemaV2)(value, writer);
const response = messageOf(() => ({ description: text(1), schema: message(2, schemaItem) }), 5);
const responseValue: WriteMessage = (value, writer) => message(1, response)(value, writer);

const operation = messageOf(
  () => ({
    tags: repeated(text(1)),
    description: text(3),
    operationId: text(5),
    produces: repeated(text(6)),
    consumes: repeated(text(7)),
    parameters: repeated(message(8, parametersItem)),
    responses: message(9, entries(1, responseValue)),
    schemes: repeated(text(10)),
  }),
  13,
);

export const pathItemV2: WriteMessage = messageOf(
  () => ({
    get: message(2, operation),
    put: message(3, operation),
    post: message(4, operation),
    delete: message(5, operation),
    options: message(6, operation),
    head: message(7, operation),
    patch: message(8, operation),
    parameters: repeated(message(9, parametersItem)),
  }),
  10,
);

const info = messageOf(() => ({ title: text(1), version: text(2) }));
const apiKeySecurity = messageOf(() => ({ type: text(1), name: text(2), in: text(3), description: text(4) }));
const securityDefinition: WriteMessage = (value, writer) => message(2, apiKeySecurity)(value, writer);

/** The parts of the document before the paths and after the definitions. */
export const documentHeadV2: WriteMessage = messageOf(() => ({ swagger: text(1), info: message(2, info) }));
export const documentTailV2: WriteMessage = messageOf(() => ({
  security: repeated(message(12, entries(1, texts(1)))),
  securityDefinitions: message(13, entries(1, securityDefinition)),
}));
