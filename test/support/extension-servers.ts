/**
 * Other API servers behind APIServices: their documents as tables, which tests and the recording of
 * upstream's answers share.
 */
import type { IncomingHttpHeaders } from "node:http";

/** What a server answers; "hang" never ends. */
export type ExtensionAnswer =
  | "hang"
  | { readonly status: number; readonly type?: string; readonly etag?: string; readonly body: string };

/** The answers of one server. */
export type ExtensionServer = (path: string, headers: IncomingHttpHeaders) => ExtensionAnswer;

const notFound: ExtensionAnswer = { status: 404, type: "text/plain", body: "404 page not found\n" };
const json = (value: object, etag?: string): ExtensionAnswer => ({
  status: 200,
  type: "application/json",
  body: JSON.stringify(value),
  ...(etag !== undefined && { etag }),
});

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";

const thing = {
  resource: "things",
  responseKind: { group: "fast.example.com", version: "v1", kind: "Thing" },
  scope: "Namespaced",
  singularResource: "thing",
  verbs: ["get", "list"],
  shortNames: ["th"],
  unknown: { dropped: true },
  subresources: [{ subresource: "status", verbs: ["get"] }],
};

/** Every claim of other groups must be ignored. */
const fastDiscovery = {
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  metadata: {},
  items: [
    {
      metadata: { name: "fast.example.com" },
      versions: [
        {
          version: "v1",
          resources: [thing, { resource: "others", scope: "Cluster", verbs: null }],
          freshness: "Stale",
        },
        { version: "v1beta1", resources: [{ ...thing, shortNames: [] }], freshness: "Current" },
        { version: "v9", resources: [thing], freshness: "Current" },
      ],
    },
    { metadata: { name: "apps" }, versions: [{ version: "v1", resources: [thing], freshness: "Current" }] },
    {
      metadata: { name: "mixed.example.com" },
      versions: [{ version: "v2", resources: [thing], freshness: "Current" }],
    },
  ],
};

const reference = (name: string): object => ({ $ref: `#/definitions/${name}` });
const preconditions = {
  description: "Preconditions must be fulfilled before an operation (update, delete, etc.) is carried out.",
  type: "object",
  properties: {
    resourceVersion: { description: "Specifies the target ResourceVersion", type: "string" },
    uid: { description: "Specifies the target UID.", type: "string" },
  },
};
const pretty = {
  uniqueItems: true,
  type: "string",
  description:
    "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget).",
  name: "pretty",
  in: "query",
};

const listThings = (kind: string): object => ({
  description: "list things",
  consumes: ["*/*"],
  produces: ["application/json", "application/yaml"],
  schemes: ["https"],
  tags: ["fast_v1"],
  operationId: `list${kind}`,
  parameters: [
    { $ref: "#/parameters/pretty-tJGM1-ng" },
    { $ref: "#/parameters/limit-1NfNmdNH" },
    { name: "body", in: "body", required: true, schema: reference(`${meta}.Preconditions`) },
  ],
  responses: {
    200: { description: "OK", schema: reference(`com.example.fast.v1.${kind}`) },
    401: { description: "Unauthorized" },
  },
  "x-kubernetes-action": "list",
  unknown: "dropped",
});

const fastV2 = {
  swagger: "2.0",
  info: { title: "fast", version: "v1" },
  paths: {
    "/apis/": { get: listThings("Unused") },
    "/apis/apps/v1/deployments": { get: listThings("Unused") },
    "/apis/fast.example.com/": { get: listThings("Unused") },
    "/apis/fast.example.com/v1/things": { get: listThings("Thing"), "x-path": 1 },
    "/apis/fast.example.com/v1/namespaces/{namespace}/things": {
      get: listThings("ThingList"),
      parameters: [{ uniqueItems: true, type: "string", name: "namespace", in: "path", required: true }],
    },
    "/apis/fast.example.com/v1beta1/things": { get: listThings("ThingList") },
  },
  definitions: {
    "com.example.fast.v1.Thing": {
      type: "object",
      required: ["spec"],
      properties: {
        metadata: { description: "Standard metadata.", ...reference(`${meta}.ListMeta`) },
        spec: { type: "object", additionalProperties: { type: "string", default: "" } },
        sizes: { type: "array", items: { type: "integer", format: "int64", minimum: 0 } },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
      "x-kubernetes-group-version-kind": [{ group: "fast.example.com", kind: "Thing", version: "v1" }],
    },
    "com.example.fast.v1.ThingList": {
      type: "object",
      properties: {
        items: { type: "array", items: reference("com.example.fast.v1.Thing") },
        metadata: reference(`${meta}.ListMeta`),
      },
    },
    "com.example.fast.v1.Unused": { type: "object", properties: { gone: { type: "string" } } },
    "com.example.fast.v1.Unreferenced": { type: "string", format: "date" },
    [`${meta}.Preconditions`]: preconditions,
    [`${meta}.ListMeta`]: { description: "Another ListMeta.", type: "object" },
  },
  parameters: {
    "pretty-tJGM1-ng": pretty,
    "limit-1NfNmdNH": { uniqueItems: true, type: "integer", description: "Another limit.", name: "limit", in: "query" },
  },
  securityDefinitions: { Mine: { type: "basic" } },
};

const fastV3Document = {
  openapi: "3.0.0",
  info: { title: "fast", version: "v1" },
  paths: { "/apis/fast.example.com/v1/things": { get: { responses: { 200: { description: "OK" } } } } },
};

/** Serves aggregated discovery and both versions of OpenAPI. */
const fast: ExtensionServer = (path, { accept = "" }) => {
  const [route] = path.split("?", 1);
  switch (route) {
    case "/apis":
      return accept.includes("v=v2;")
        ? {
            ...(json(fastDiscovery, '"fast-discovery"') as object as { status: number; body: string }),
            type: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
          }
        : json({ kind: "APIGroupList", apiVersion: "v1", groups: [] });
    case "/apis/fast.example.com/v1":
      return json({ kind: "APIResourceList", apiVersion: "v1", groupVersion: "fast.example.com/v1", resources: [] });
    case "/openapi/v2":
      return json(fastV2, '"fast-v2"');
    case "/openapi/v3":
      return json({
        paths: {
          "apis/fast.example.com/v1": { serverRelativeURL: "/openapi/v3/apis/fast.example.com/v1?hash=ABCDEF" },
          "apis/fast.example.com/v1beta1": { serverRelativeURL: "/openapi/v3/apis/fast.example.com/v1beta1?hash=012" },
        },
      });
    case "/openapi/v3/apis/fast.example.com/v1":
      return json(fastV3Document, '"ABCDEF"');
    default:
      return notFound;
  }
};

const legacyList = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: "legacy.example.com/v1",
  resources: [
    { name: "gadgets/status", singularName: "", namespaced: true, kind: "Gadget", verbs: ["get", "patch"] },
    {
      name: "gadgets",
      singularName: "gadget",
      namespaced: true,
      kind: "Gadget",
      verbs: ["list", "get"],
      shortNames: ["ga"],
      categories: ["all"],
      storageVersionHash: "abc=",
    },
    {
      name: "orphans/scale",
      singularName: "",
      namespaced: false,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get"],
    },
    { name: "gadgets/exec", singularName: "", namespaced: true, kind: "", verbs: ["create"] },
  ],
};

const legacyV2 = {
  swagger: "2.0",
  info: { title: "legacy", version: "v1" },
  paths: {
    "/apis/legacy.example.com/v1/gadgets": {
      get: {
        description: "list gadgets",
        produces: ["application/json"],
        operationId: "listGadgets",
        parameters: [{ uniqueItems: true, type: "integer", name: "limit", in: "query" }],
        responses: { 200: { description: "OK", schema: reference("com.example.legacy.v1.Gadget") } },
      },
      post: {
        consumes: ["application/json"],
        produces: ["application/json"],
        operationId: "createGadget",
        parameters: [{ name: "body", in: "body", required: true, schema: reference("com.example.legacy.v1.Gadget") }],
        responses: { 201: { description: "Created", schema: reference("com.example.legacy.v1.Gadget") } },
      },
    },
    // It is the other server's.
    "/apis/fast.example.com/v1/things": { get: listThings("Thing") },
  },
  definitions: {
    "com.example.legacy.v1.Gadget": {
      type: "object",
      properties: {
        metadata: { description: "Standard metadata.", ...reference(`${meta}.ListMeta`) },
        shape: { type: "string", enum: ["round", "square"] },
      },
      "x-kubernetes-group-version-kind": [{ group: "legacy.example.com", kind: "Gadget", version: "v1" }],
    },
    [`${meta}.ListMeta`]: { description: "A third ListMeta.", type: "object" },
  },
};

/** Has neither aggregated discovery nor OpenAPI v3. */
const legacy: ExtensionServer = (path) => {
  switch (path.split("?", 1)[0]) {
    case "/apis/legacy.example.com/v1":
      return json(legacyList);
    case "/openapi/v2":
      return json(legacyV2);
    default:
      return notFound;
  }
};

/** Serves the second version of a group whose first version is a custom resource. */
const mixed: ExtensionServer = (path) =>
  path.split("?", 1)[0] === "/apis/mixed.example.com/v2"
    ? json({
        kind: "APIResourceList",
        apiVersion: "v1",
        groupVersion: "mixed.example.com/v2",
        resources: [{ name: "mixes", singularName: "mix", namespaced: true, kind: "Mix", verbs: ["get"] }],
      })
    : notFound;

const garbage: ExtensionServer = () => ({ status: 200, type: "application/json", body: '{"kind": 1, "resources": {}' });
const failing: ExtensionServer = () => ({ status: 500, type: "text/plain", body: "it failed\n" });
const hanging: ExtensionServer = () => "hang";

/** The servers, each behind the Service of its name in the namespace `default`. */
export const extensionServers: Readonly<Record<string, ExtensionServer>> = {
  fast,
  legacy,
  mixed,
  garbage,
  failing,
  hanging,
};

/** An APIService. */
export interface ExtensionService {
  /** Such as `v1.example.com`. */
  readonly name: string;
  readonly server: string;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
}

/** The APIServices; the server `missing` does not exist. */
export const extensionServices: readonly ExtensionService[] = [
  { name: "v1.fast.example.com", server: "fast", groupPriorityMinimum: 2000, versionPriority: 10 },
  { name: "v1beta1.fast.example.com", server: "fast", groupPriorityMinimum: 100, versionPriority: 20 },
  { name: "v1.legacy.example.com", server: "legacy", groupPriorityMinimum: 17_750, versionPriority: 10 },
  { name: "v2.mixed.example.com", server: "mixed", groupPriorityMinimum: 10, versionPriority: 10 },
  { name: "v1.garbage.example.com", server: "garbage", groupPriorityMinimum: 1000, versionPriority: 100 },
  { name: "v1.failing.example.com", server: "failing", groupPriorityMinimum: 1000, versionPriority: 100 },
  { name: "v1.hanging.example.com", server: "hanging", groupPriorityMinimum: 1000, versionPriority: 100 },
  { name: "v1.missing.example.com", server: "missing", groupPriorityMinimum: 1000, versionPriority: 100 },
];

/** The definition of the first version of `mixed.example.com`. */
export const mixedDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "mixes.mixed.example.com" },
  spec: {
    group: "mixed.example.com",
    scope: "Namespaced",
    names: { plural: "mixes", singular: "mix", kind: "Mix", listKind: "MixList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } },
      },
    ],
  },
};
