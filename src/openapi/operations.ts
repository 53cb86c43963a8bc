/**
 * All paths of a group and version with their operations. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/endpoints/installer.go`.
 */
import type { SubresourceDefinition } from "../catalog/contract.ts";
import type { ServedGroup, ServedGroupVersion, ServedResource } from "../catalog/discovery.ts";
import { connectRow, type OperationTarget, operation, rows } from "./builtin-operations.ts";
import { customPaths } from "./custom-operations.ts";
import {
  capitalize,
  type KindName,
  type MediaTypes,
  nameParameter,
  namespaceParameter,
  type Operation,
  type OperationResponse,
  type Parameter,
  type PathItem,
  type PathOptions,
  queryParameters,
  type Scope,
} from "./path-item.ts";

const anyType = ["*/*"];
const plainTypes = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const streamTypes = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

function builtinMediaTypes(cbor: boolean): MediaTypes {
  const objects = [...plainTypes, ...(cbor ? ["application/cbor"] : [])];
  return {
    objects,
    streams: [...objects, ...streamTypes, ...(cbor ? ["application/cbor-seq"] : [])],
    patches: [
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/strategic-merge-patch+json",
      "application/apply-patch+yaml",
      ...(cbor ? ["application/apply-patch+cbor"] : []),
    ],
    bodies: anyType,
  };
}

/** The paths of a group and version, sorted. */
export function pathsOf(
  group: string,
  groupVersion: ServedGroupVersion,
  { commonQuery, cbor }: PathOptions,
): PathItem[] {
  const { version } = groupVersion;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope: Scope = {
    group,
    version,
    root,
    commonQuery,
    mediaTypes: builtinMediaTypes(cbor),
    ...operationNames(group, version),
  };
  const [custom, builtin] = partition(groupVersion.resources, ({ definition }) => definition.custom);
  // Upstream's documents of custom resources do not have the discovery path.
  const discovery = builtin.length === 0 ? [] : [discoveryPath(scope)];
  const items = [
    ...discovery,
    ...builtin.flatMap((one) => resourcePaths(one, scope)),
    ...custom.flatMap((one) => customPaths(one, scope)),
  ];
  return items.filter(({ operations }) => operations.length > 0).sort((a, b) => (a.path < b.path ? -1 : 1));
}

function partition<T>(all: readonly T[], belongs: (one: T) => boolean): [those: T[], others: T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}

/**
 * The names of a group: `RbacAuthorization` in ids and `rbacAuthorization` in tags for
 * `rbac.authorization.k8s.io`.
 */
function operationNames(group: string, version: string): { title: string; tag: string } {
  const words = (group === "" ? "core" : group.replace(/\.k8s\.io$/, "")).split(/[^A-Za-z0-9]+/);
  const camel = words.map((word, index) => (index === 0 ? word : capitalize(word))).join("");
  return { title: capitalize(camel) + capitalize(version), tag: `${camel}_${version}` };
}

/**
 * The paths outside of group versions, with the names of their documents: discovery of versions and
 * groups, `/version`, and service account issuer discovery.
 *
 * @param issuer whether service account issuer discovery is served
 */
export function topPaths(groups: readonly ServedGroup[], issuer: boolean): [document: string, item: PathItem][] {
  return groups
    .filter(({ versions }) => versions.some(({ resources }) => resources.some(({ definition }) => !definition.custom)))
    .flatMap(({ group }): [string, PathItem][] => {
      if (group === "")
        return [["api", plainGet("/api/", "getCoreAPIVersions", "get available API versions", "core", "APIVersions")]];
      const { title, tag } = operationNames(group, "");
      const item = plainGet(
        `/apis/${group}/`,
        `get${title}APIGroup`,
        "get information of a group",
        tag.slice(0, -1),
        "APIGroup",
      );
      return [[`apis/${group}`, item]];
    })
    .concat([
      ["apis", plainGet("/apis/", "getAPIVersions", "get available API versions", "apis", "APIGroupList")],
      [
        "version",
        plainGet("/version/", "getCodeVersion", "get the version information for this server", "version", versionInfo, [
          "application/json",
        ]),
      ],
      ...(issuer ? issuerPaths : []),
    ]);
}

const issuerPaths: readonly [document: string, item: PathItem][] = [
  [
    ".well-known/openid-configuration",
    textGet(
      "/.well-known/openid-configuration/",
      "getServiceAccountIssuerOpenIDConfiguration",
      "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
      { tag: "WellKnown", produces: "application/json" },
    ),
  ],
  [
    "openid/v1/jwks",
    textGet(
      "/openid/v1/jwks/",
      "getServiceAccountIssuerOpenIDKeyset",
      "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
      { tag: "openid", produces: "application/jwk-set+json" },
    ),
  ],
];

const versionInfo = "io.k8s.apimachinery.pkg.version.Info";

function discoveryPath({ root, title, tag, mediaTypes }: Scope): PathItem {
  return plainGet(
    `${root}/`,
    `get${title}APIResources`,
    "get available resources",
    tag,
    "APIResourceList",
    mediaTypes.objects,
  );
}

function plainGet(
  path: string,
  id: string,
  description: string,
  tag: string,
  content: string,
  produces: readonly string[] = plainTypes,
): PathItem {
  const answers: OperationResponse[] = [{ code: 200, content }];
  const operation: Operation = {
    method: "get",
    action: undefined,
    id,
    description,
    tags: [tag],
    kind: undefined,
    parameters: [],
    body: undefined,
    answers,
    consumes: produces,
    produces,
  };
  return { path, operations: [operation] };
}

/** An operation that upstream describes only as returning text. */
function textGet(
  path: string,
  id: string,
  description: string,
  { tag, produces }: { tag: string; produces: string },
): PathItem {
  const { operations } = plainGet(path, id, description, tag, "text", [produces]);
  return { path, operations: operations.map((operation) => ({ ...operation, consumes: [] })) };
}

function resourcePaths(served: ServedResource, scope: Scope): PathItem[] {
  const { definition, version } = served;
  const { resource, namespaced, kind } = definition;
  const gvk: KindName = { group: scope.group, version: scope.version, kind };
  const has = (verb: string): boolean => version.verbs.includes(verb);
  const place = namespaced ? "/namespaces/{namespace}" : "";
  const within = namespaced ? [namespaceParameter] : [];
  const noun = (namespaced ? "Namespaced" : "") + kind;
  const name = nameParameter(kind);
  const item = [name, ...within];
  const target: OperationTarget = { scope, kind: gvk, noun, suffix: "" };
  const collection = `${scope.root}${place}/${resource}`;
  const watch = `${scope.root}/watch${place}/${resource}`;
  const deleted: OperationResponse["content"] = definition.deleteReturnsObject ? gvk : "Status";
  const list: KindName = { ...gvk, kind: definition.listKind };
  const listing = has("watch") ? rows.listOrWatch : rows.list;
  const items: PathItem[] = [
    {
      path: collection,
      operations: [
        ...when(has("list"), () => operation(listing, target, within, list)),
        ...when(has("create"), () => operation(rows.create, target, within, gvk)),
        ...when(has("deletecollection"), () => operation(rows.deleteCollection, target, within, "Status")),
      ],
    },
    {
      path: `${collection}/{name}`,
      operations: [
        ...when(has("get"), () => operation(rows.read, target, item, gvk)),
        ...when(has("update"), () => operation(rows.replace, target, item, gvk)),
        ...when(has("delete"), () => operation(rows.delete, target, item, deleted)),
        ...when(has("patch"), () => operation(rows.patch, target, item, gvk)),
      ],
    },
    { path: watch, operations: when(has("watch"), () => operation(rows.watchList, target, within, "WatchEvent")) },
    {
      path: `${watch}/{name}`,
      operations: when(has("watch") && has("get"), () => operation(rows.watch, target, item, "WatchEvent")),
    },
    ...version.subresources.flatMap((subresource) =>
      subresourcePaths(subresource, served, { scope, collection, noun, within }),
    ),
  ];
  if (namespaced) {
    const everywhere: OperationTarget = { ...target, noun: kind, suffix: "ForAllNamespaces" };
    items.push({
      path: `${scope.root}/${resource}`,
      operations: when(has("list"), () => operation(listing, everywhere, [], list)),
    });
    items.push({
      path: `${scope.root}/watch/${resource}`,
      operations: when(has("watch"), () => operation(rows.watchList, everywhere, [], "WatchEvent")),
    });
  }
  return items;
}

interface SubresourceTarget {
  readonly scope: Scope;
  readonly collection: string;
  readonly noun: string;
  /** Parameters in the path of the collection. */
  readonly within: readonly Parameter[];
}

function subresourcePaths(
  subresource: SubresourceDefinition,
  { definition }: ServedResource,
  place: SubresourceTarget,
): PathItem[] {
  const { scope, collection, noun, within } = place;
  const { group, version } = subresource.kindGroupVersion ?? scope;
  const gvk: KindName = { group, version, kind: subresource.kind };
  const item = [nameParameter(gvk.kind), ...within];
  const path = `${collection}/{name}/${subresource.name}`;
  const title = capitalize(subresource.name);
  const parent = { kind: definition.kind, subresource: subresource.name };
  const target: OperationTarget = { scope, kind: gvk, parent, noun, suffix: title };
  const has = (verb: string): boolean => subresource.verbs.includes(verb);
  if (subresource.connect !== undefined) {
    const own = queryParameters(subresource.query?.connect ?? [], definition.kind + title);
    const connect = (suffix: string, parameters: readonly Parameter[]): Operation[] =>
      (subresource.connect as readonly string[]).map((method) =>
        operation(connectRow(method), { ...target, suffix: title + suffix }, parameters, "text"),
      );
    const items = [{ path, operations: connect("", [...item, ...own]) }];
    if (subresource.name === "proxy")
      items.push({ path: `${path}/{path}`, operations: connect("WithPath", [...item, pathParameter, ...own]) });
    return items;
  }
  const readParameters = [...item, ...queryParameters(subresource.query?.get ?? [], definition.kind + title)];
  const read = (): Operation =>
    subresource.plainText === true
      ? operation(rows.readText, target, readParameters, "text")
      : operation(rows.read, target, readParameters, gvk);
  return [
    {
      path,
      operations: [
        ...when(has("get"), read),
        ...when(has("update"), () => operation(rows.replace, target, item, gvk)),
        ...when(has("create"), () => operation(rows.create, target, item, gvk)),
        ...when(has("patch"), () => operation(rows.patch, target, item, gvk)),
      ],
    },
  ];
}

const pathParameter: Parameter = {
  in: "path",
  name: "path",
  type: "string",
  topic: "",
  description: "path to the resource",
};

function when<T>(holds: boolean, make: () => T): T[] {
  return holds ? [make()] : [];
}
