/**
 * The operations of built-in resources. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/endpoints/installer.go`.
 */
import {
  type Body,
  capitalize,
  type HttpMethod,
  type KindName,
  type MediaTypes,
  type Operation,
  type OperationResponse,
  type Parameter,
  queryParameters,
  type Scope,
  withArticle,
} from "./path-item.ts";

/** An operation, independent of the resource. */
interface OperationRow {
  readonly method: HttpMethod;
  readonly action: string;
  /** @param title the group and version, such as `AppsV1` */
  id(title: string, target: OperationTarget): string;
  /** @param kind the kind of the resource @param of a prefix such as `status of `, or empty */
  description(kind: string, of: string): string;
  /** The operation whose query parameters are used. */
  readonly query?: string;
  readonly body?: "object" | "Patch" | "DeleteOptions";
  readonly codes: readonly OperationResponse["code"][];
  /** The media types of objects by default. */
  produces?(types: MediaTypes): readonly string[];
}

/** The resource or subresource of an operation. */
export interface OperationTarget {
  readonly scope: Scope;
  readonly kind: KindName;
  /** The resource of a subresource. */
  readonly parent?: { readonly kind: string; readonly subresource: string };
  /** In operation ids, such as `NamespacedPod`. */
  readonly noun: string;
  /** The last part of operation ids, such as `Status` or `ForAllNamespaces`. */
  readonly suffix: string;
}

const list: OperationRow = {
  method: "get",
  action: "list",
  id: (title, { noun, suffix }) => `list${title}${noun}${suffix}`,
  description: (kind) => `list objects of kind ${kind}`,
  query: "list",
  codes: [200],
  produces: ({ streams }) => streams,
};
const readAny: OperationRow = {
  method: "get",
  action: "get",
  id: (title, { noun, suffix }) => `read${title}${noun}${suffix}`,
  description: (kind, of) => `read ${of}the specified ${kind}`,
  codes: [200],
};

/** The operations of resources and of subresources other than connections. */
export const rows = {
  list,
  listOrWatch: { ...list, description: (kind) => `list or watch objects of kind ${kind}` },
  create: {
    method: "post",
    action: "post",
    id: (title, { noun, suffix }) => `create${title}${noun}${suffix}`,
    description: (kind, of) => `create ${of}${withArticle(kind)}`,
    query: "post",
    body: "object",
    codes: [200, 201, 202],
  },
  deleteCollection: {
    method: "delete",
    action: "deletecollection",
    id: (title, { noun }) => `delete${title}Collection${noun}`,
    description: (kind) => `delete collection of ${kind}`,
    query: "deletecollection",
    body: "DeleteOptions",
    codes: [200],
  },
  read: { ...readAny, query: "get" },
  /** Does not list the common query parameters, such as `pretty`. */
  readText: { ...readAny, produces: ({ objects }) => ["text/plain", ...objects] },
  replace: {
    method: "put",
    action: "put",
    id: (title, { noun, suffix }) => `replace${title}${noun}${suffix}`,
    description: (kind, of) => `replace ${of}the specified ${kind}`,
    query: "put",
    body: "object",
    codes: [200, 201],
  },
  patch: {
    method: "patch",
    action: "patch",
    id: (title, { noun, suffix }) => `patch${title}${noun}${suffix}`,
    description: (kind, of) => `partially update ${of}the specified ${kind}`,
    query: "patch",
    body: "Patch",
    codes: [200, 201],
  },
  delete: {
    method: "delete",
    action: "delete",
    id: (title, { noun }) => `delete${title}${noun}`,
    description: (kind) => `delete ${withArticle(kind)}`,
    query: "delete",
    body: "DeleteOptions",
    codes: [200, 202],
  },
  watchList: {
    method: "get",
    action: "watchlist",
    id: (title, { noun, suffix }) => `watch${title}${noun}List${suffix}`,
    description: (kind) =>
      `watch individual changes to a list of ${kind}. deprecated: use the 'watch' parameter with a list operation instead.`,
    query: "list",
    codes: [200],
    produces: ({ streams }) => streams,
  },
  watch: {
    method: "get",
    action: "watch",
    id: (title, { noun }) => `watch${title}${noun}`,
    description: (kind) =>
      `watch changes to an object of kind ${kind}. deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter.`,
    query: "list",
    codes: [200],
    produces: ({ streams }) => streams,
  },
} as const satisfies Record<string, OperationRow>;

/** The operation of a subresource such as `exec` for an HTTP method in upper case. */
export function connectRow(method: string): OperationRow {
  const lowerCase = method.toLowerCase();
  return {
    method: lowerCase as HttpMethod,
    action: "connect",
    id: (title, { noun, suffix }) => `connect${title}${capitalize(lowerCase)}${noun}${suffix}`,
    description: (kind, of) => `connect ${method} requests to ${of}${kind}`,
    codes: [200],
    produces: () => ["*/*"],
  };
}

/**
 * Describes an operation of a resource.
 *
 * @param parameters all except the common query parameters of the operation
 */
export function operation(
  row: OperationRow,
  target: OperationTarget,
  parameters: readonly Parameter[],
  answer: OperationResponse["content"],
): Operation {
  const { scope, kind, parent } = target;
  const { mediaTypes, commonQuery } = scope;
  const common = row.query === undefined ? [] : queryParameters(commonQuery[row.query] ?? [], row.query);
  return {
    method: row.method,
    action: row.action,
    id: row.id(scope.title, target),
    description: row.description(parent?.kind ?? kind.kind, parent === undefined ? "" : `${parent.subresource} of `),
    tags: [scope.tag],
    kind,
    parameters: [...parameters, ...common],
    body: bodyOf(row, kind),
    answers: row.codes.map((code) => ({ code, content: answer })),
    consumes: row.body === "Patch" ? mediaTypes.patches : mediaTypes.bodies,
    produces: row.produces?.(mediaTypes) ?? mediaTypes.objects,
  };
}

function bodyOf({ body }: OperationRow, object: KindName): Body | undefined {
  if (body === undefined) return undefined;
  return { kind: body === "object" ? object : body, required: body !== "DeleteOptions" };
}
