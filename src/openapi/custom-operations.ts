/** Paths and operations of custom resources. Source: upstream's documents of them, which differ in small things from those of built-in ones. */
import type { PublishedSchema } from "../catalog/contract.ts";
import type { ServedResource } from "../catalog/discovery.ts";
import {
  type Answer,
  type Body,
  capitalize,
  type HttpMethod,
  type KindName,
  nameParameter,
  namespaceParameter,
  type Operation,
  type Parameter,
  type PathItem,
  queryParameters,
  type Scope,
  withArticle,
} from "./path-item.ts";

/** An operation, but for the resource that it belongs to. */
interface Row {
  readonly method: HttpMethod;
  readonly action: string;
  /** How its id begins. */
  readonly verb: string;
  /** @param kind the resource's @param of such as `status of `, or empty */
  description(kind: string, of: string): string;
  /** Whose query parameters it takes. */
  readonly query: string;
  readonly codes: readonly Answer["code"][];
  readonly body?: "object" | "Patch" | "DeleteOptions";
  readonly answer: "object" | "list" | "Status";
}

const list: Row = {
  method: "get",
  action: "list",
  verb: "list",
  description: (kind) => `list objects of kind ${kind}`,
  query: "list",
  codes: [200],
  answer: "list",
};
const create: Row = {
  method: "post",
  action: "post",
  verb: "create",
  description: (kind) => `create ${withArticle(kind)}`,
  query: "post",
  codes: [200, 201, 202],
  body: "object",
  answer: "object",
};
const deleteCollection: Row = {
  method: "delete",
  action: "deletecollection",
  verb: "delete",
  description: (kind) => `delete collection of ${kind}`,
  query: "list",
  codes: [200],
  answer: "Status",
};
const deleteOne: Row = {
  method: "delete",
  action: "delete",
  verb: "delete",
  description: (kind) => `delete ${withArticle(kind)}`,
  query: "delete",
  codes: [200, 202],
  body: "DeleteOptions",
  answer: "Status",
};
/** What subresources have, too. */
const ofObjects: readonly Row[] = [
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

/** What the rows are filled in with. */
interface Place {
  readonly scope: Scope;
  /** The resource's own kind, also where a subresource has another. */
  readonly kind: KindName;
  readonly object: KindName;
  readonly list: KindName;
  /** The rest of ids, such as `NamespacedShipStatus`. */
  readonly noun: string;
  readonly subresource: string;
  readonly path: readonly Parameter[];
}

export function customPaths({ definition, version }: ServedResource, scope: Scope): PathItem[] {
  const { resource, kind, listKind, namespaced } = definition;
  const name: KindName = { group: scope.group, version: scope.version, kind };
  const listName: KindName = { ...name, kind: listKind };
  const published = version.openApi ?? nothingPublished;
  const custom = { plural: resource, published };
  const within = namespaced ? [namespaceParameter] : [];
  const collection: Place = {
    scope,
    kind: name,
    object: { ...name, custom: { ...name, ...custom } },
    list: { ...listName, custom: { ...listName, ...custom, itemKind: kind } },
    noun: (namespaced ? "Namespaced" : "") + kind,
    subresource: "",
    path: within,
  };
  const item: Place = { ...collection, path: [nameParameter(kind), ...within] };
  const path = `${scope.root}${namespaced ? "/namespaces/{namespace}" : ""}/${resource}`;
  return [
    { path, operations: [list, create, deleteCollection].map((row) => operation(row, collection)) },
    { path: `${path}/{name}`, operations: [...ofObjects, deleteOne].map((row) => operation(row, item)) },
    ...version.subresources.map(({ name: subresource, kind: ownKind, kindGroupVersion }) => {
      const object = kindGroupVersion === undefined ? item.object : { ...kindGroupVersion, kind: ownKind };
      const place: Place = { ...item, object, noun: item.noun + capitalize(subresource), subresource };
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

const nothingPublished: PublishedSchema = { schema: undefined, selectableFields: [] };
const objectTypes = ["application/json", "application/yaml"];
const patchTypes = ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

function operation(row: Row, { scope, kind, noun, subresource, path, ...kinds }: Place): Operation {
  const infix = row === deleteCollection ? "Collection" : "";
  const content = row.answer === "Status" ? row.answer : kinds[row.answer];
  return {
    method: row.method,
    action: row.action,
    id: `${row.verb}${scope.title}${infix}${noun}`,
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

function bodyOf({ body }: Row, object: KindName): Body | undefined {
  if (body === undefined) return undefined;
  return { kind: body === "object" ? object : body, required: body !== "DeleteOptions" };
}

/** Only custom resources say that it may be given when one object is read. */
const resourceVersion: Parameter = { in: "query", name: "resourceVersion", type: "string", topic: "list" };
