import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { builtinCatalog } from "../../../test/support/builtin-catalog.ts";
import { type Answer, ask } from "../../../test/support/request-context.ts";
import { descriptionsFrom } from "../../openapi/descriptions.ts";
import { createOpenApi } from "./openapi.ts";

const descriptions = descriptionsFrom({
  types: {
    V1ConfigMap: { "": "a map", immutable: "for good" },
    IoK8sApiCoreV1Container: { imagePullPolicy: 'when to pull\n\nPossible enum values:\n - `"Never"`' },
    V1ObjectMeta: { "": "about it" },
  },
  parameters: { patch: { force: "by force" } },
});
const openApi = createOpenApi({ catalog: builtinCatalog(), loadDescriptions: async () => descriptions });
const v2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const v3Protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";

function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(path.startsWith("/openapi/v2") ? openApi.v2 : openApi.v3, { path, headers });
}

async function getJson(path: string, headers: Record<string, string> = {}) {
  return JSON.parse((await get(path, headers)).body.toString());
}

const core = await getJson("/openapi/v3/api/v1");
const v2 = await getJson("/openapi/v2");

test("v3: a kind", () => {
  assert.deepEqual(core.components.schemas["io.k8s.api.core.v1.ConfigMap"], {
    description: "a map",
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      binaryData: { type: "object", additionalProperties: { type: "string", format: "byte" } },
      data: { type: "object", additionalProperties: { type: "string", default: "" } },
      immutable: { description: "for good", type: "boolean" },
      kind: { type: "string" },
      metadata: {
        default: {},
        allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }],
      },
    },
    "x-kubernetes-group-version-kind": [{ group: "", kind: "ConfigMap", version: "v1" }],
  });
});

test("v2: a kind", () => {
  const { properties } = v2.definitions["io.k8s.api.core.v1.ConfigMap"];
  assert.deepEqual(properties.data, { type: "object", additionalProperties: { type: "string" } });
  assert.deepEqual(properties.metadata, {
    description: "about it",
    $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
  });
});

test("a description lists the values of an enum where the field does", async () => {
  const document = async (enums: boolean) => {
    const served = createOpenApi({ catalog: builtinCatalog(), enums, loadDescriptions: async () => descriptions });
    const { body } = await ask(served.v3, { path: "/openapi/v3/api/v1" });
    return JSON.parse(body.toString()).components.schemas["io.k8s.api.core.v1.Container"].properties.imagePullPolicy;
  };
  assert.match((await document(true)).description, /^when to pull\n\nPossible enum values:\n - `"Never"`$/);
  assert.equal((await document(false)).description, "when to pull");
});

/** Definition, field, and what both versions say of it. */
const fields: [definition: string, field: string, inV2: unknown, inV3: unknown][] = [
  [
    "io.k8s.api.core.v1.PodSpec",
    "containers",
    {
      type: "array",
      items: { $ref: "#/definitions/io.k8s.api.core.v1.Container" },
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    },
    {
      type: "array",
      items: { default: {}, allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.Container" }] },
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    },
  ],
  [
    "io.k8s.api.core.v1.ContainerPort",
    "protocol",
    { type: "string", enum: ["SCTP", "TCP", "UDP"] },
    { type: "string", default: "TCP", enum: ["SCTP", "TCP", "UDP"] },
  ],
  [
    "io.k8s.api.core.v1.ContainerPort",
    "containerPort",
    { type: "integer", format: "int32" },
    { type: "integer", format: "int32", default: 0 },
  ],
  [
    "io.k8s.api.core.v1.ServicePort",
    "targetPort",
    { $ref: "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString" },
    { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString" }] },
  ],
  [
    "io.k8s.api.core.v1.PodSpec",
    "nodeSelector",
    { type: "object", additionalProperties: { type: "string" }, "x-kubernetes-map-type": "atomic" },
    { type: "object", additionalProperties: { type: "string", default: "" }, "x-kubernetes-map-type": "atomic" },
  ],
];
for (const [definition, field, inV2, inV3] of fields) {
  test(`${definition} ${field}`, () => {
    assert.deepEqual(v2.definitions[definition].properties[field], inV2);
    assert.deepEqual(core.components.schemas[definition].properties[field], inV3);
  });
}

const special: [definition: string, inV2: unknown, inV3: unknown][] = [
  [
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    { type: "string", format: "date-time" },
    { type: "string", format: "date-time" },
  ],
  [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    { type: "string" },
    { oneOf: [{ type: "string" }, { type: "number" }] },
  ],
  [
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    { type: "string", format: "int-or-string" },
    { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  ],
  ["io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", { type: "object" }, { type: "object" }],
];
for (const [definition, inV2, inV3] of special) {
  test(definition, () =>
    assert.deepEqual([v2.definitions[definition], core.components.schemas[definition]], [inV2, inV3]),
  );
}

test("a union and an atomic struct say so", () => {
  const { definitions } = v2;
  assert.deepEqual(definitions["io.k8s.api.core.v1.SeccompProfile"]["x-kubernetes-unions"], [
    { discriminator: "type", "fields-to-discriminateBy": { localhostProfile: "LocalhostProfile" } },
  ]);
  assert.equal(definitions["io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"]["x-kubernetes-map-type"], "atomic");
});

test("every reference can be resolved", () => {
  for (const [document, known] of [
    [v2, { definitions: v2.definitions, parameters: v2.parameters }],
    [core, core.components],
  ]) {
    const references = new Set(
      [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference as string),
    );
    for (const reference of references) {
      const [section = "", name = ""] = reference.split("/").slice(-2);
      assert.ok(Object.hasOwn(known[section], name), reference);
    }
  }
});

test("v3: an operation", () => {
  const secret = { schema: { $ref: "#/components/schemas/io.k8s.api.core.v1.Secret" } };
  const content = {
    "application/json": secret,
    "application/vnd.kubernetes.protobuf": secret,
    "application/yaml": secret,
  };
  const patch = { schema: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Patch" } };
  const schema = { type: "string", uniqueItems: true };
  assert.deepEqual(core.paths["/api/v1/namespaces/{namespace}/secrets/{name}"].patch, {
    tags: ["core_v1"],
    description: "partially update the specified Secret",
    operationId: "patchCoreV1NamespacedSecret",
    parameters: [
      { name: "dryRun", in: "query", schema },
      { name: "fieldManager", in: "query", schema },
      { name: "fieldValidation", in: "query", schema },
      { name: "force", in: "query", description: "by force", schema: { type: "boolean", uniqueItems: true } },
    ],
    requestBody: {
      content: {
        "application/apply-patch+yaml": patch,
        "application/json-patch+json": patch,
        "application/merge-patch+json": patch,
        "application/strategic-merge-patch+json": patch,
      },
      required: true,
    },
    responses: {
      "200": { description: "OK", content },
      "201": { description: "Created", content },
      "401": { description: "Unauthorized" },
    },
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "Secret" },
  });
});

const operations: [path: string, method: string, id: string, description: string][] = [
  ["/api/v1/", "get", "getCoreV1APIResources", "get available resources"],
  ["/api/v1/configmaps", "get", "listCoreV1ConfigMapForAllNamespaces", "list or watch objects of kind ConfigMap"],
  [
    "/api/v1/namespaces/{namespace}/configmaps",
    "delete",
    "deleteCoreV1CollectionNamespacedConfigMap",
    "delete collection of ConfigMap",
  ],
  ["/api/v1/namespaces/{namespace}/endpoints", "post", "createCoreV1NamespacedEndpoints", "create Endpoints"],
  ["/api/v1/namespaces/{namespace}/events", "post", "createCoreV1NamespacedEvent", "create an Event"],
  ["/api/v1/nodes/{name}", "get", "readCoreV1Node", "read the specified Node"],
  [
    "/api/v1/nodes/{name}/proxy/{path}",
    "post",
    "connectCoreV1PostNodeProxyWithPath",
    "connect POST requests to proxy of Node",
  ],
  [
    "/api/v1/namespaces/{namespace}/pods/{name}/exec",
    "get",
    "connectCoreV1GetNamespacedPodExec",
    "connect GET requests to exec of Pod",
  ],
  [
    "/api/v1/namespaces/{namespace}/pods/{name}/log",
    "get",
    "readCoreV1NamespacedPodLog",
    "read log of the specified Pod",
  ],
  [
    "/api/v1/namespaces/{namespace}/pods/{name}/eviction",
    "post",
    "createCoreV1NamespacedPodEviction",
    "create eviction of a Pod",
  ],
  [
    "/api/v1/namespaces/{name}/finalize",
    "put",
    "replaceCoreV1NamespaceFinalize",
    "replace finalize of the specified Namespace",
  ],
  [
    "/api/v1/watch/namespaces/{namespace}/pods",
    "get",
    "watchCoreV1NamespacedPodList",
    "watch individual changes to a list of Pod. deprecated: use the 'watch' parameter with a list operation instead.",
  ],
  [
    "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
    "get",
    "readAppsV1NamespacedDeploymentScale",
    "read scale of the specified Deployment",
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "get",
    "listRbacAuthorizationV1ClusterRole",
    "list or watch objects of kind ClusterRole",
  ],
  ["/apis/apps/", "get", "getAppsAPIGroup", "get information of a group"],
  ["/version/", "get", "getCodeVersion", "get the version information for this server"],
];
for (const [path, method, id, description] of operations) {
  test(`${method} ${path}`, () => {
    const { operationId, description: found } = v2.paths[path][method];
    assert.deepEqual([operationId, found], [id, description]);
  });
}

test("no operation id comes twice", () => {
  const ids = Object.values<Record<string, { operationId?: string }>>(v2.paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId }) => operationId ?? []),
  );
  assert.ok(ids.length > 800);
  assert.equal(new Set(ids).size, ids.length);
});

test("v2: what kubectl looks for on the patch of a kind", () => {
  const { patch } = v2.paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  assert.deepEqual(patch["x-kubernetes-group-version-kind"], { group: "apps", version: "v1", kind: "Deployment" });
  const names = patch.parameters.map(
    (one: { name?: string; $ref?: string }) => one.name ?? v2.parameters[one.$ref?.split("/").at(-1) ?? ""].name,
  );
  assert.deepEqual(names, ["body", "dryRun", "fieldManager", "fieldValidation", "force"]);
});

test("v3: the index, and what it leads to", async () => {
  const { paths } = await getJson("/openapi/v3");
  assert.ok(
    ["api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "version"].every((name) => Object.hasOwn(paths, name)),
  );
  const url: string = paths["apis/apps/v1"].serverRelativeURL;
  assert.match(url, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/);
  const { status, headers, body } = await get(url);
  assert.equal(status, 200);
  assert.equal(headers["cache-control"], "public, immutable");
  assert.equal(headers.expires, "Sat, 02 Jan 2027 03:04:05 GMT");
  assert.equal(headers.etag, `"${url.split("=")[1]}"`);
  assert.equal(JSON.parse(body.toString()).openapi, "3.0.0");
  const wrong = await get("/openapi/v3/apis/apps/v1?hash=0");
  assert.deepEqual([wrong.status, wrong.headers.location], [301, url]);
});

const negotiated: [path: string, accept: string, status: number, type: string | undefined][] = [
  ["/openapi/v2", "application/json", 200, "application/json"],
  ["/openapi/v2", "*/*", 200, "application/json"],
  ["/openapi/v2", v2Protobuf, 200, v2Protobuf],
  ["/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", 200, v2Protobuf],
  [
    "/openapi/v2",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf, application/json;q=0.5",
    200,
    v2Protobuf,
  ],
  ["/openapi/v2", "text/html", 406, undefined],
  ["/openapi/v3/version", v3Protobuf, 200, v3Protobuf],
  ["/openapi/v3/version", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", 200, v3Protobuf],
  ["/openapi/v3/version", "text/html", 406, undefined],
  ["/openapi/v3/none/v9", "*/*", 404, undefined],
];
for (const [path, accept, status, type] of negotiated) {
  test(`${path} as ${accept}: ${status}`, async () => {
    const answer = await get(path, { accept });
    assert.deepEqual([answer.status, answer.headers["content-type"]], [status, type]);
  });
}

test("sends documents compressed to clients that accept it, and only when changed", async () => {
  const plain = await get("/openapi/v3/api/v1");
  const packed = await get("/openapi/v3/api/v1", { "accept-encoding": "gzip" });
  assert.equal(packed.headers["content-encoding"], "gzip");
  assert.ok(packed.body.length < plain.body.length / 5);
  assert.ok(gunzipSync(packed.body).equals(plain.body));
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.equal(
    (await get("/openapi/v3/api/v1", { "accept-encoding": "gzip;q=0" })).headers["content-encoding"],
    undefined,
  );
});

const etag = (await get("/openapi/v3/api/v1")).headers.etag as string;
const modified = (await get("/openapi/v3/api/v1")).headers["last-modified"] as string;
const conditions: [what: string, headers: Record<string, string>, status: number][] = [
  ["the tag", { "if-none-match": etag }, 304],
  ["the tag, weak, among others", { "if-none-match": `"a", W/${etag}` }, 304],
  ["any tag", { "if-none-match": "*" }, 304],
  ["another tag", { "if-none-match": '"a"' }, 200],
  ["another tag goes before the time", { "if-none-match": '"a"', "if-modified-since": modified }, 200],
  ["the time", { "if-modified-since": modified }, 304],
  ["a time before", { "if-modified-since": "Thu, 01 Jan 1970 00:00:01 GMT" }, 200],
  ["no time", { "if-modified-since": "yesterday" }, 200],
];
for (const [what, headers, status] of conditions) {
  test(`not sent again to a client that has it: ${what}`, async () => {
    const answer = await get("/openapi/v3/api/v1", headers);
    assert.deepEqual([answer.status, answer.headers.etag, answer.body.length === 0], [status, etag, status === 304]);
    assert.equal("content-type" in answer.headers, status === 200);
  });
}

test("the index is not sent again to a client that has it, and is plain text whatever it accepts, as upstream", async () => {
  const { headers } = await get("/openapi/v3");
  assert.equal((await get("/openapi/v3", { "if-none-match": headers.etag as string })).status, 304);
  for (const accept of ["text/html", "application/json"])
    assert.equal((await get("/openapi/v3", { accept })).headers["content-type"], "text/plain; charset=utf-8");
  for (const path of ["/openapi/v3/", "/openapi/v3/apis/apps/v1/"]) assert.equal((await get(path)).status, 404);
});

/** The top-level fields of a message: number, and content of what has a length. */
function fieldsOf(message: Buffer): [number: number, content: Buffer][] {
  const found: [number, Buffer][] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++] as number;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const head = varint();
    assert.equal(head % 8, 2);
    const length = varint();
    found.push([Math.floor(head / 8), message.subarray(at, at + length)]);
    at += length;
  }
  assert.equal(at, message.length);
  return found;
}

/** Of an entry: its first field. */
function nameOf([, entry]: [number: number, content: Buffer]): string {
  const [name] = fieldsOf(entry);
  return name === undefined ? assert.fail("an entry without a name") : name[1].toString();
}

test("protobuf holds the same paths and definitions", async () => {
  const document = fieldsOf((await get("/openapi/v2", { accept: v2Protobuf })).body);
  const section = (number: number): string[] => {
    const [, content] = document.find(([one]) => one === number) ?? assert.fail(`no field ${number}`);
    return fieldsOf(content).map(nameOf);
  };
  assert.deepEqual(section(8), Object.keys(v2.paths));
  assert.deepEqual(section(9), Object.keys(v2.definitions));
  assert.deepEqual(section(10), Object.keys(v2.parameters));
  const group = fieldsOf((await get("/openapi/v3/api/v1", { accept: v3Protobuf })).body);
  const paths = group.find(([number]) => number === 4)?.[1] ?? assert.fail();
  assert.deepEqual(fieldsOf(paths).map(nameOf), Object.keys(core.paths));
});

test("encodes again after a failure", async () => {
  let failures = 1;
  const shaky = createOpenApi({
    catalog: builtinCatalog("api/all=false,coordination.k8s.io/v1"),
    loadDescriptions: async () => {
      if (failures-- > 0) throw new Error("not now");
      return descriptions;
    },
  });
  const path = "/openapi/v3/apis/coordination.k8s.io/v1";
  await assert.rejects(ask(shaky.v3, { path }), { message: "not now" });
  assert.equal((await ask(shaky.v3, { path })).status, 200);
});

test("lists the OpenID paths where they are served", async () => {
  const names = [".well-known/openid-configuration", "openid/v1/jwks"];
  const index = (await getJson("/openapi/v3")).paths;
  assert.deepEqual(
    names.filter((name) => Object.hasOwn(index, name)),
    [],
  );
  const withIssuer = createOpenApi({
    catalog: builtinCatalog(),
    issuer: true,
    loadDescriptions: async () => descriptions,
  });
  const ofIssuer = async (path: string) =>
    JSON.parse((await ask(path === "/openapi/v2" ? withIssuer.v2 : withIssuer.v3, { path })).body.toString());
  const { paths } = await ofIssuer("/openapi/v3");
  assert.ok(names.every((name) => Object.hasOwn(paths, name)));
  const { paths: inV3, components } = await ofIssuer("/openapi/v3/openid/v1/jwks");
  assert.deepEqual(Object.keys(components), ["securitySchemes"]);
  assert.deepEqual(inV3["/openid/v1/jwks/"].get, {
    tags: ["openid"],
    description: "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
    operationId: "getServiceAccountIssuerOpenIDKeyset",
    responses: {
      200: { description: "OK", content: { "application/jwk-set+json": { schema: { type: "string" } } } },
      401: { description: "Unauthorized" },
    },
  });
  const inV2 = (await ofIssuer("/openapi/v2")).paths["/.well-known/openid-configuration/"].get;
  assert.deepEqual([inV2.tags, inV2.consumes, inV2.produces], [["WellKnown"], undefined, ["application/json"]]);
});
