/**
 * Paths and operations of custom resources, which differ in details from those of built-in
 * resources. Source:
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/openapi/builder/builder.go`.
 */
import type { PublishedSchema } from "../catalog/contract.ts";
import type { ServedResource } from "../catalog/discovery.ts";
import {
  type Body,
  capitalize,
  type HttpMethod,
  type KindName,
  nameParameter,
  namespaceParameter,
  type Operation,
  type OperationResponse,
  type Parameter,
  type PathItem,
  queryParameters,
  type Scope,
  withArticle,
} from "./path-item.ts";

/** An operation, independent of the resource. */
interface OperationRow {
  readonly method: HttpMethod;
  readonly action: string;
  /** The first part of the operation id. */
  readonly verb: string;
  /** @param kind the kind of the resource @param of a prefix such as `status of `, or empty */
  description(kind: string, of: string): string;
  /** The operation whose query parameters are used. */
  readonly query: string;
  readonly codes: readonly OperationResponse["code"][];
  readonly body?: "object" | "Patch" | "DeleteOptions";
  readonly answer: "object" | "list" | "Status";
}

const list: OperationRow = {
  method: "get",
  action: "list",
  verb: "list",
  description: (kind) => `list objects of kind ${kind}`,
  query: "list",
  codes: [200],
  answer: "list",
};
const create: OperationRow = {
  method: "post",
  action: "post",
  verb: "create",
  description: (kind) => `create ${withArticle(kind)}`,
  query: "post",
  codes: [200, 201, 202],
  body: "object",
  answer: "object",
};
const deleteCollection: OperationRow = {
  method: "delete",
  action: "deletecollection",
  verb: "delete",
  description: (kind) => `delete collection of ${kind}`,
  query: "list",
  codes: [200],
  answer: "Status",
};
const deleteOne: OperationRow = {
  method: "delete",
  action: "delete",
  verb: "delete",
  description: (kind) => `delete ${withArticle(kind)}`,
  query: "delete",
  codes: [200, 202],
  body: "DeleteOptions",
  answer: "Status",
};
/** Operations that subresources also have. */
const ofObjects: readonly OperationRow[] = [
  {
    method: "get",
    action: "get",
    verb: "read",
    description: (kind, of) => `read ${of}the specified ${kind}`,
    query: "get",
    codes: [200],
    answer: "object",
  },
  {
    method: "put",
    action: "put",
    verb: "replace",
    description: (kind, of) => `replace ${of}the specified ${kind}`,
    query: "put",
    codes: [200, 201],
    body: "object",
    answer: "object",
  },
  {
    method: "patch",
    action: "patch",
    verb: "patch",
    description: (kind, of) => `partially update ${of}the specified ${kind}`,
    query: "patch",
    codes: [200],
    body: "Patch",
    answer: "object",
  },
];

/** The resource of an operation. */
interface OperationTarget {
  readonly scope: Scope;
  /** The kind of the resource, even if that of the subresource differs. */
  readonly kind: KindName;
  readonly object: KindName;
  readonly list: KindName;
  /** The last part of operation ids, such as `NamespacedShipStatus`. */
  readonly noun: string;
  readonly subresource: string;
  readonly path: readonly Parameter[];
}

/** The paths of a custom resource at one version. */
export function customPaths({ definition, version }: ServedResource, scope: Scope): PathItem[] {
  const { resource, kind, listKind, namespaced } = definition;
  const name: KindName = { group: scope.group, version: scope.version, kind };
  const listName: KindName = { ...name, kind: listKind };
  const published = version.openApi ?? emptySchema;
  const custom = { plural: resource, published };
  const within = namespaced ? [namespaceParameter] : [];
  const collection: OperationTarget = {
    scope,
    kind: name,
    object: { ...name, custom: { ...name, ...custom } },
    list: { ...listName, custom: { ...listName, ...custom, itemKind: kind } },
    noun: (namespaced ? "Namespaced" : "") + kind,
    subresource: "",
    path: within,
  };
  const item: OperationTarget = { ...collection, path: [nameParameter(kind), ...within] };
  const path = `${scope.root}${namespaced ? "/namespaces/{namespace}" : ""}/${resource}`;
  return [
    { path, operations: [list, create, deleteCollection].map((row) => operation(row, collection)) },
    { path: `${path}/{name}`, operations: [...ofObjects, deleteOne].map((row) => operation(row, item)) },
    ...version.subresources.map(({ name: subresource, kind: ownKind, kindGroupVersion }) => {
      const object = kindGroupVersion === undefined ? item.object : { ...kindGroupVersion, kind: ownKind };
      const place: OperationTarget = { ...item, object, noun: item.noun + capitalize(subresource), subresource };
      return { path: `${path}/{name}/${subresource}`, operations: ofObjects.map((row) => operation(row, place)) };
    }),
    ...(namespaced
      ? [
          {
            path: `${scope.root}/${resource}`,
            operations: [operation(list, { ...collection, noun: `${kind}ForAllNamespaces`, path: [] })],
          },
        ]
      : []),
  ];
}

const emptySchema: PublishedSchema = { schema: undefined, selectableFields: [] };
const objectTypes = ["application/json", "application/yaml"];
const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

function operation(row: OperationRow, { scope, kind, noun, subresource, path, ...kinds }: OperationTarget): Operation {
  const infix = row === deleteCollection ? "collection" : "";
  const content = row.answer === "Status" ? row.answer : kinds[row.answer];
  return {
    method: row.method,
    action: row.action,
    id: `${row.verb}${scope.title}${inCamelCase(infix + noun)}`,
    description: row.description(kind.kind, subresource === "" ? "" : `${subresource} of `),
    tags: [scope.tag],
    kind,
    parameters: [
      ...path,
      ...queryParameters(scope.commonQuery[row.query] ?? [], row.query),
      ...(row.query === "get" ? [resourceVersion] : []),
    ],
    body: bodyOf(row, kinds.object),
    answers: row.codes.map((code) => ({ code, content })),
    consumes: row.body === "Patch" ? patchTypes : objectTypes,
    produces: objectTypes,
  };
}

/**
 * The name of an operation without the dashes of its kind, which can be in lower case. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/endpoints/openapi/openapi.go`, ToValidOperationID.
 */
function inCamelCase(name: string): string {
  return name.split("-").map(capitalize).join("");
}

function bodyOf({ body }: OperationRow, object: KindName): Body | undefined {
  if (body === undefined) return undefined;
  return { kind: body === "object" ? object : body, required: body !== "DeleteOptions" };
}

/** Only custom resources have this parameter for reads of one object. */
const resourceVersion: Parameter = { in: "query", name: "resourceVersion", type: "string", topic: "list" };
