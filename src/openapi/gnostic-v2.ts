/**
 * gnostic's `openapi.v2` messages, restricted to the fields that documents of API servers use.
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
    type: message(22, (value, writer) => (Array.isArray(value) ? repeated(text(1)) : text(1))(value, writer)),
    items: message(23, (value, writer) =>
      (Array.isArray(value) ? repeated(message(1, schemaV2)) : message(1, schemaV2))(value, writer),
    ),
    allOf: repeated(message(24, schemaV2)),
    properties: message(25, entries(1, schemaV2)),
    discriminator: text(26),
    readOnly: boolean(27),
    externalDocs: message(29, externalDocs),
    example: any(30),
  }),
  31,
);

const bodyParameter = messageOf(
  () => ({ description: text(1), name: text(2), in: text(3), required: boolean(4), schema: message(5, schemaV2) }),
  6,
);
/** The fields from `type` on have the same order in all parameters. @param first the number of `type` */
const simpleParameter = (first: number, hasEmptyValue: boolean): WriteMessage =>
  messageOf(
    () => ({
      required: boolean(1),
      in: text(2),
      description: text(3),
      name: text(4),
      ...(hasEmptyValue && { allowEmptyValue: boolean(5) }),
      type: text(first),
      format: text(first + 1),
      items: message(first + 2, primitiveItems),
      collectionFormat: text(first + 3),
      default: any(first + 4),
      maximum: double(first + 5),
      exclusiveMaximum: boolean(first + 6),
      minimum: double(first + 7),
      exclusiveMinimum: boolean(first + 8),
      maxLength: integer(first + 9),
      minLength: integer(first + 10),
      pattern: text(first + 11),
      maxItems: integer(first + 12),
      minItems: integer(first + 13),
      uniqueItems: boolean(first + 14),
      enum: repeated(any(first + 15)),
      multipleOf: double(first + 16),
    }),
    first + 17,
  );

const primitiveItems: WriteMessage = messageOf(
  () => ({ type: text(1), format: text(2), collectionFormat: text(4), default: any(5), pattern: text(12) }),
  18,
);

const headerParameter = simpleParameter(5, false);
const formParameter = simpleParameter(6, true);
const queryParameter = simpleParameter(6, true);
const pathParameter = simpleParameter(5, false);

/** By place: the field of the message. */
const simpleParameters: Readonly<Record<string, WriteMessage>> = {
  header: message(1, headerParameter),
  formData: message(2, formParameter),
  query: message(3, queryParameter),
  path: message(4, pathParameter),
};

/** A BodyParameter or NonBodyParameter. */
export const parameterV2: WriteMessage = oneOf((value) => {
  const { in: place = "" } = value as { in?: string };
  if (place === "body") return message(1, bodyParameter);
  const write = Object.hasOwn(simpleParameters, place) ? simpleParameters[place] : simpleParameters.path;
  return message(2, write as WriteMessage);
});

const parametersItem = oneOf((value) => (has(value, "$ref") ? message(2, jsonReference) : message(1, parameterV2)));

const schemaItem: WriteMessage = (value, writer) => message(1, schemaV2)(value, writer);
const response = messageOf(() => ({ description: text(1), schema: message(2, schemaItem) }), 5);
const responseValue: WriteMessage = oneOf((value) =>
  has(value, "$ref") ? message(2, jsonReference) : message(1, response),
);

const operation = messageOf(
  () => ({
    tags: repeated(text(1)),
    summary: text(2),
    description: text(3),
    externalDocs: message(4, externalDocs),
    operationId: text(5),
    produces: repeated(text(6)),
    consumes: repeated(text(7)),
    parameters: repeated(message(8, parametersItem)),
    responses: message(9, responses({ codes: 1, extensions: 2 }, responseValue)),
    schemes: repeated(text(10)),
    deprecated: boolean(11),
    security: repeated(message(12, entries(1, texts(1)))),
  }),
  13,
);

export const pathItemV2: WriteMessage = messageOf(
  () => ({
    $ref: text(1),
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
