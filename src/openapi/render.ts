/** Renders paths and operations for a version of OpenAPI, in upstream's order of fields. */
import { builtinType, definitionOf } from "../catalog/builtin-schemas.ts";
import type { Json } from "../lib/json/values.ts";
import type { Definitions } from "./definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import type { Body, HttpMethod, KindName, Operation, OperationResponse, Parameter, PathItem } from "./path-item.ts";

/** What rendered paths reference. */
interface Rendering {
  readonly definitions: Definitions;
  readonly descriptions: Descriptions;
}

const methodOrder: readonly HttpMethod[] = ["get", "put", "post", "delete", "options", "head", "patch"];

/** Moves parameters that all operations of a path have to the path. */
function renderPath(
  item: PathItem,
  renderOperation: (operation: Operation, parameters: readonly Parameter[]) => Json,
  renderParameter: (parameter: Parameter) => Json,
): Json {
  const shared = sharedParameters(item);
  const operations = [...item.operations].sort((a, b) => methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method));
  const own = ({ parameters }: Operation): Parameter[] => sorted(parameters.filter((one) => !shared.has(keyOf(one))));
  return {
    ...Object.fromEntries(
      operations.map((operation) => [operation.method, renderOperation(operation, own(operation))]),
    ),
    ...(shared.size > 0 && { parameters: sorted([...shared.values()]).map(renderParameter) }),
  };
}

function sharedParameters({ operations: [first, ...others] }: PathItem): Map<string, Parameter> {
  const shared = new Map((first as Operation).parameters.map((parameter) => [keyOf(parameter), parameter]));
  for (const { parameters } of others) {
    const keys = new Set(parameters.map(keyOf));
    for (const key of shared.keys()) if (!keys.has(key)) shared.delete(key);
  }
  return shared;
}

const keyOf = (parameter: Parameter): string => `${parameter.in}/${parameter.name}`;
const sorted = (parameters: readonly Parameter[]): Parameter[] =>
  [...parameters].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Renders a path for v3. */
export function renderPathV3(item: PathItem, rendering: Rendering): Json {
  const renderParameter = (parameter: Parameter): Json => parameterV3(parameter, rendering);
  return renderPath(item, (operation, parameters) => operationV3(operation, parameters, rendering), renderParameter);
}

function operationV3(operation: Operation, parameters: readonly Parameter[], rendering: Rendering): Json {
  return {
    tags: operation.tags,
    description: operation.description,
    operationId: operation.id,
    ...(parameters.length > 0 && { parameters: parameters.map((parameter) => parameterV3(parameter, rendering)) }),
    ...(operation.body && { requestBody: bodyV3(operation.body, operation.consumes, rendering) }),
    responses: {
      ...Object.fromEntries(
        operation.answers.map((answer) => [answer.code, answerV3(answer, operation.produces, rendering)]),
      ),
      401: unauthorized,
    },
    ...extensions(operation),
  };
}

function parameterV3(parameter: Parameter, { descriptions }: Rendering): Json {
  return {
    name: parameter.name,
    in: parameter.in,
    ...describe(parameter, descriptions),
    ...(parameter.in === "path" && { required: true }),
    schema: { type: parameter.type, uniqueItems: true },
  };
}

function bodyV3({ kind, required }: Body, consumes: readonly string[], { definitions }: Rendering): Json {
  const content = { schema: reference(kind, definitions) };
  return {
    content: Object.fromEntries([...consumes].sort().map((type) => [type, content])),
    ...(required && { required }),
  };
}

function answerV3({ code, content }: OperationResponse, produces: readonly string[], { definitions }: Rendering): Json {
  const schema = content === "text" ? { type: "string" } : reference(content, definitions);
  return {
    description: answerNames[code],
    content: Object.fromEntries([...produces].sort().map((type) => [type, { schema }])),
  };
}

/**
 * Renders a path for v2.
 *
 * @param share adds a parameter to the document and returns a reference to it
 */
export function renderPathV2(item: PathItem, rendering: Rendering, share: (parameter: Json) => Json): Json {
  const renderParameter = (parameter: Parameter): Json => parameterV2(parameter, rendering, share);
  return renderPath(
    item,
    (operation, parameters) => operationV2(operation, parameters, rendering, share),
    renderParameter,
  );
}

function operationV2(
  operation: Operation,
  parameters: readonly Parameter[],
  rendering: Rendering,
  share: (parameter: Json) => Json,
): Json {
  const all = [
    ...(operation.body ? [bodyV2(operation.body, rendering, share)] : []),
    ...parameters.map((parameter) => parameterV2(parameter, rendering, share)),
  ];
  return {
    description: operation.description,
    ...(operation.consumes.length > 0 && { consumes: operation.consumes }),
    produces: operation.produces,
    schemes: ["https"],
    tags: operation.tags,
    operationId: operation.id,
    ...(all.length > 0 && { parameters: all }),
    responses: {
      ...Object.fromEntries(operation.answers.map((answer) => [answer.code, answerV2(answer, rendering)])),
      401: unauthorized,
    },
    ...extensions(operation),
  };
}

function parameterV2(parameter: Parameter, { descriptions }: Rendering, share: (parameter: Json) => Json): Json {
  const body = {
    uniqueItems: true,
    type: parameter.type,
    ...describe(parameter, descriptions),
    name: parameter.name,
    in: parameter.in,
    ...(parameter.in === "path" && { required: true }),
  };
  return unshared.has(parameter.name) ? body : share(body);
}

/**
 * Parameters that v2 does not share: `name` depends on the kind, and old clients do not resolve
 * references of the others.
 */
const unshared = new Set(["name", "fieldValidation", "dryRun"]);

function bodyV2({ kind, required }: Body, { definitions }: Rendering, share: (parameter: Json) => Json): Json {
  const body = { name: "body", in: "body", ...(required && { required }), schema: reference(kind, definitions) };
  return typeof kind === "string" ? share(body) : body;
}

function answerV2({ code, content }: OperationResponse, { definitions }: Rendering): Json {
  return {
    description: answerNames[code],
    schema: content === "text" ? { type: "string" } : reference(content, definitions),
  };
}

const answerNames = { 200: "OK", 201: "Created", 202: "Accepted" } as const;
const unauthorized = { description: "Unauthorized" };

function extensions({ action, kind }: Operation): Json {
  return {
    ...(action !== undefined && { "x-kubernetes-action": action }),
    ...(kind !== undefined && {
      "x-kubernetes-group-version-kind": { group: kind.group, version: kind.version, kind: kind.kind },
    }),
  };
}

function describe({ topic, name, description }: Parameter, descriptions: Descriptions): Json {
  const found = description ?? descriptions.parameter(topic, name);
  return found === undefined ? {} : { description: found };
}

/** The package of kinds of every group and version. */
const metaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1";

function reference(kind: KindName | string, definitions: Definitions): Json {
  if (typeof kind !== "string" && kind.custom !== undefined) return definitions.referenceCustom(kind.custom);
  return definitions.reference(typeOf(kind));
}

function typeOf(kind: KindName | string): ReturnType<typeof builtinType> {
  if (typeof kind === "string") return builtinType(kind.includes(".") ? kind : `${metaPackage}.${kind}`);
  const definition = definitionOf(kind.group, kind.version, kind.kind);
  if (definition === undefined) throw new Error(`no type for ${kind.group}/${kind.version} ${kind.kind}`);
  return builtinType(definition);
}
