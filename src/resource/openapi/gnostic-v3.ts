/** gnostic's `openapi.v3` messages, as far as our documents use them. */
import { any, boolean, double, encodeMessage, entries, message, messageOf, oneOf, repeated, text, texts, type WriteMessage } from "./gnostic.ts";

const has = (value: unknown, key: string): boolean => Object.hasOwn(value as object, key);

const reference = messageOf(() => ({ $ref: text(1) }));
const schemaOrReference: WriteMessage = oneOf((value) => (has(value, "$ref") ? message(2, reference) : message(1, schema)));
const single = message(1, schemaOrReference);

/** A default is a number, a boolean or a text; gnostic has no place for others, and of those only says that there is one. */
const defaultType: WriteMessage = (value, writer) => {
  if (typeof value === "number") double(1)(value, writer);
  else if (typeof value === "boolean") boolean(2)(value, writer);
  else if (typeof value === "string") text(3)(value, writer);
};

const schema: WriteMessage = messageOf(
  () => ({
    uniqueItems: boolean(20),
    required: repeated(text(23)),
    enum: repeated(any(24)),
    type: text(25),
    allOf: repeated(message(26, schemaOrReference)),
    oneOf: repeated(message(27, schemaOrReference)),
    items: message(30, (value, writer) => single(value, writer)),
    properties: message(31, entries(1, schemaOrReference)),
    additionalProperties: message(32, (value, writer) => single(value, writer)),
    default: message(33, defaultType),
    description: text(34),
    format: text(35),
  }),
  36,
);

const mediaType = messageOf(() => ({ schema: message(1, schemaOrReference) }));
const parameter = messageOf(
  () => ({ name: text(1), in: text(2), description: text(3), required: boolean(4), schema: message(10, schemaOrReference) }),
  14,
);
const parameterOrReference: WriteMessage = (value, writer) => message(1, parameter)(value, writer);
const requestBody = messageOf(() => ({ content: message(2, entries(1, mediaType)), required: boolean(3) }));
const requestBodyOrReference: WriteMessage = (value, writer) => message(1, requestBody)(value, writer);
const response = messageOf(() => ({ description: text(1), content: message(3, entries(1, mediaType)) }));
const responseOrReference: WriteMessage = (value, writer) => message(1, response)(value, writer);

const operation = messageOf(
  () => ({
    tags: repeated(text(1)),
    description: text(3),
    operationId: text(5),
    parameters: repeated(message(6, parameterOrReference)),
    requestBody: message(7, requestBodyOrReference),
    responses: message(8, entries(2, responseOrReference)),
  }),
  13,
);

const pathItem = messageOf(
  () => ({
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

const info = messageOf(() => ({ title: text(1), version: text(6) }));
const securityScheme = messageOf(() => ({ type: text(1), description: text(2), name: text(3), in: text(4) }));
const components = messageOf(() => ({
  schemas: message(1, entries(1, schemaOrReference)),
  securitySchemes: message(
    7,
    entries(1, (value, writer) => message(1, securityScheme)(value, writer)),
  ),
}));

const document = messageOf(() => ({
  openapi: text(1),
  info: message(2, info),
  paths: message(4, entries(1, pathItem)),
  components: message(5, components),
  security: repeated(message(6, entries(1, texts(1)))),
}));

/** @param value a whole document as JSON */
export function encodeDocumentV3(value: unknown): Buffer {
  return encodeMessage(document, value);
}
