/**
 * Converts OpenAPI v2 documents to v3, for servers that have only v2. Information that upstream's
 * conversion loses is lost here, too. Source: `k8s.io/kube-openapi/pkg/openapiconv`.
 */
import type { Json } from "../json/values.ts";
import { schemaShape } from "./document-shape.ts";
import { normalize } from "./normalize.ts";
import { prefixes } from "./references.ts";
import { isExtension } from "./shape.ts";

/** @param document in its canonical form */
export function convertToV3(document: Json): Json {
  const { info = null, paths, definitions, securityDefinitions, responses, produces, externalDocs } = document;
  const components = {
    ...(definitions !== undefined && { schemas: mapValues(definitions, convertSchema) }),
    ...(securityDefinitions !== undefined && {
      securitySchemes: mapValues(securityDefinitions, convertSecurityScheme),
    }),
    ...(responses !== undefined && { responses: mapValues(responses, (one) => convertResponse(one, produces)) }),
  };
  return {
    openapi: "3.0.0",
    info,
    ...(paths !== undefined && {
      paths: mapValues(paths, (item, name) => (isExtension(name) ? item : convertPathItem(item))),
    }),
    components,
    ...(externalDocs !== undefined && { externalDocs: convertExternalDocs(externalDocs as Json) }),
  };
}

function mapValues(object: unknown, map: (value: Json, name: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(object as Record<string, Json>).map(([name, one]) => [name, map(one, name)]),
  );
}

function extensionsOf(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => isExtension(name)));
}

function convertExternalDocs({ description, url = "" }: Json): Json {
  return { ...(description !== undefined && { description }), url };
}

/** References in `allOf`, `anyOf`, `oneOf` and `not` stay as they are. */
function convertSchema(schema: Json): Json {
  return wrapReferences(normalize(convertReferences(schema), schemaShape) as Json);
}

const schemasPrefix = "#/components/schemas/";

function convertReferences(schema: Json): Json {
  const { $ref, properties, items, additionalProperties, additionalItems } = schema;
  return {
    ...schema,
    ...($ref !== undefined && { $ref: convertReference($ref as string) }),
    ...(properties !== undefined && { properties: mapValues(properties, convertReferences) }),
    ...(items !== undefined && {
      items: Array.isArray(items) ? items.map(convertReferences) : convertReferences(items as Json),
    }),
    ...(additionalProperties !== undefined && { additionalProperties: convertUnlessFlag(additionalProperties) }),
    ...(additionalItems !== undefined && { additionalItems: convertUnlessFlag(additionalItems) }),
  };
}

function convertUnlessFlag(schema: unknown): unknown {
  return typeof schema === "boolean" ? schema : convertReferences(schema as Json);
}

function convertReference(reference: string): string {
  const start = reference.indexOf(prefixes.definitions);
  return start === -1 ? reference : schemasPrefix + reference.slice(start + prefixes.definitions.length);
}

/** In v3 a reference has no siblings. */
function wrapReferences(schema: Json): Json {
  const walked: Record<string, unknown> = { ...schema };
  for (const name of ["properties", "patternProperties", "definitions"]) {
    if (walked[name] !== undefined) walked[name] = mapValues(walked[name], wrapReferences);
  }
  for (const name of ["allOf", "anyOf", "oneOf"]) {
    if (walked[name] !== undefined) walked[name] = (walked[name] as Json[]).map(wrapReferences);
  }
  for (const name of ["not", "items", "additionalProperties", "additionalItems"]) {
    const value = walked[name];
    if (Array.isArray(value)) walked[name] = value.map(wrapReferences);
    else if (typeof value === "object") walked[name] = wrapReferences(value as Json);
  }
  if (schema.$ref === undefined || Object.keys(schema).length === 1) return walked;
  const { $ref, ...siblings } = walked;
  return normalize({ ...siblings, allOf: [{ $ref }] }, schemaShape) as Json;
}

function convertSecurityScheme(scheme: Json): Json {
  const { description, type, name, in: place, flow, authorizationUrl, tokenUrl, scopes } = scheme;
  const defined = { type, description, name, in: place };
  const flows = flow !== undefined && {
    flows: { [flow as string]: withoutUndefined({ authorizationUrl, tokenUrl, scopes }) },
  };
  return { ...withoutUndefined(defined), ...flows, ...extensionsOf(scheme) };
}

function withoutUndefined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch"];

function convertPathItem(item: Json): Json {
  const operations = methods.filter((method) => item[method] !== undefined);
  const { parameters } = item as { parameters?: readonly Json[] };
  return {
    ...(item.$ref !== undefined && { $ref: item.$ref }),
    ...Object.fromEntries(operations.map((method) => [method, convertOperation(item[method] as Json)])),
    ...(parameters && { parameters: parameters.map(convertParameter) }),
    ...extensionsOf(item),
  };
}

function convertOperation(operation: Json): Json {
  const { tags, summary, description, externalDocs, operationId, consumes, produces, deprecated } = operation;
  const { parameters = [], responses = {} } = operation as { parameters?: readonly Json[]; responses?: Json };
  const isBody = ({ name, schema }: Json): boolean => name === "body" && schema !== undefined;
  const body = parameters.findLast(isBody);
  const others = parameters.filter((one) => !isBody(one)).map(convertParameter);
  return withoutUndefined({
    tags,
    summary,
    description,
    externalDocs: externalDocs === undefined ? undefined : convertExternalDocs(externalDocs as Json),
    operationId,
    parameters: others.length > 0 ? others : undefined,
    requestBody: body === undefined ? undefined : contentOf(body.schema as Json, consumes),
    responses: mapValues(responses, (one, code) => (isExtension(code) ? one : convertResponse(one, produces))),
    deprecated,
    ...extensionsOf(operation),
  });
}

function contentOf(schema: Json, types: unknown): Json {
  if (types === undefined) return {};
  const content = { schema: convertSchema(schema) };
  return { content: Object.fromEntries([...(types as string[])].sort().map((type) => [type, content])) };
}

function convertResponse(response: Json, produces: unknown): Json {
  const { $ref, description, schema } = response;
  return {
    ...($ref !== undefined && { $ref: ($ref as string).replace("#/responses/", "#/components/responses/") }),
    ...(description !== undefined && { description }),
    ...(schema !== undefined && contentOf(schema as Json, produces)),
    ...extensionsOf(response),
  };
}

function convertParameter(parameter: Json): Json {
  const { $ref, name, in: place, description, required, allowEmptyValue, schema } = parameter;
  const { type = "", format, uniqueItems } = parameter;
  return withoutUndefined({
    $ref: ($ref as string | undefined)?.replace(prefixes.parameters, "#/components/parameters/"),
    name,
    in: place,
    description,
    required,
    allowEmptyValue,
    schema: schema === undefined ? withoutUndefined({ type, format, uniqueItems }) : convertSchema(schema as Json),
    ...extensionsOf(parameter),
  });
}
