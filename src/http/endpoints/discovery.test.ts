import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog } from "../../../test/support/builtin-catalog.ts";
import { decodeAnswer } from "../../../test/support/protobuf-answers.ts";
import { ask } from "../../../test/support/request-context.ts";
import { defaultVersion } from "../../apimachinery/effective-version.ts";
import type { ApiError } from "../../apimachinery/errors.ts";
import { readEnvelope } from "../../lib/protobuf/envelope.ts";
import { createDiscovery, type Discovery } from "./discovery.ts";
import { versionHandler } from "./version.ts";

const create = (runtimeConfig = ""): Discovery =>
  createDiscovery({
    catalog: builtinCatalog(runtimeConfig),
    serverAddress: () => "192.0.2.2:6443",
    paths: ["/healthz", "/version"],
  });
const discovery = create();

const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const handlerOf = (path: string, from: Discovery) =>
  path.startsWith("/apis") ? from.apis : path.startsWith("/api") ? from.api : from.root;

async function get(path: string, accept?: string, from = discovery) {
  const { status, headers, body } = await ask(handlerOf(path, from), {
    path,
    headers: accept === undefined ? {} : { accept },
  });
  return { status, headers, body: JSON.parse(body.toString()) };
}

const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: "192.0.2.2:6443" }];
const allVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

const rows: [path: string, pick: (body: never) => unknown, want: unknown][] = [
  ["/api", (body) => body, { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs }],
  ["/apis", ({ kind, apiVersion }) => [kind, apiVersion], ["APIGroupList", "v1"]],
  ["/apis/", ({ kind }) => kind, "APIGroupList"],
  [
    "/apis",
    ({ groups }: { groups: { name: string }[] }) => groups.find(({ name }) => name === "autoscaling"),
    {
      name: "autoscaling",
      versions: [
        { groupVersion: "autoscaling/v2", version: "v2" },
        { groupVersion: "autoscaling/v1", version: "v1" },
      ],
      preferredVersion: { groupVersion: "autoscaling/v2", version: "v2" },
    },
  ],
  [
    "/apis/coordination.k8s.io",
    (body) => body,
    {
      kind: "APIGroup",
      apiVersion: "v1",
      name: "coordination.k8s.io",
      versions: [{ groupVersion: "coordination.k8s.io/v1", version: "v1" }],
      preferredVersion: { groupVersion: "coordination.k8s.io/v1", version: "v1" },
    },
  ],
  [
    "/api/v1",
    ({ kind, apiVersion, groupVersion }) => [kind, apiVersion, groupVersion],
    ["APIResourceList", undefined, "v1"],
  ],
  [
    "/api/v1",
    ({ resources }: { resources: { name: string }[] }) => resources.find(({ name }) => name === "configmaps"),
    {
      name: "configmaps",
      singularName: "configmap",
      namespaced: true,
      kind: "ConfigMap",
      verbs: allVerbs,
      shortNames: ["cm"],
      storageVersionHash: "qFsyl6wFWjQ=",
    },
  ],
  [
    "/api/v1",
    ({ resources }: { resources: { name: string }[] }) =>
      resources.find(({ name }) => name === "serviceaccounts/token"),
    {
      name: "serviceaccounts/token",
      singularName: "",
      namespaced: true,
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    },
  ],
  [
    "/apis/apiextensions.k8s.io/v1",
    (body) => body,
    {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: "apiextensions.k8s.io/v1",
      resources: [
        {
          name: "customresourcedefinitions",
          singularName: "customresourcedefinition",
          namespaced: false,
          kind: "CustomResourceDefinition",
          verbs: allVerbs,
          shortNames: ["crd", "crds"],
          categories: ["api-extensions"],
          storageVersionHash: "jfWCUB31mvA=",
        },
        {
          name: "customresourcedefinitions/status",
          singularName: "",
          namespaced: false,
          kind: "CustomResourceDefinition",
          verbs: ["get", "patch", "update"],
        },
      ],
    },
  ],
  [
    "/",
    ({ paths }: { paths: string[] }) =>
      paths.filter((path) => !path.startsWith("/apis/") || path.startsWith("/apis/apps")),
    ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version"],
  ],
];
for (const [index, [path, pick, want]] of rows.entries()) {
  test(`GET ${path} (${index})`, async () => {
    const { status, headers, body } = await get(path);
    assert.equal(status, 200);
    assert.deepEqual([headers["content-type"], headers["cache-control"]], ["application/json", "no-cache, private"]);
    assert.deepEqual(pick(body as never), want);
  });
}

test("sorts resources by name, each followed by its subresources", async () => {
  const { body } = await get("/api/v1");
  const names: string[] = body.resources.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, [...names].sort());
  assert.equal(names.length, 17 + 22);
});

test("fields come in upstream's order", async () => {
  const { body } = await get("/api/v1");
  assert.deepEqual(Object.keys(body.resources.find(({ name }: { name: string }) => name === "services")), [
    "name",
    "singularName",
    "namespaced",
    "kind",
    "verbs",
    "shortNames",
    "categories",
    "storageVersionHash",
  ]);
});

const aggregatedRows: [path: string, accept: string, kind: string][] = [
  ["/api", v2, "APIGroupDiscoveryList"],
  ["/apis", v2, "APIGroupDiscoveryList"],
  ["/apis", `${v2},application/json`, "APIGroupDiscoveryList"],
  ["/apis", `${v2beta1},${v2},application/json`, "APIGroupDiscoveryList"],
  ["/apis", `${v2beta1},application/json`, "APIGroupList"],
  ["/apis", `application/json,${v2}`, "APIGroupDiscoveryList"],
  ["/apis", "*/*", "APIGroupList"],
  ["/apis", "application/json, */*", "APIGroupList"],
  ["/apis", "application/*", "APIGroupList"],
  ["/apis", "*", "APIGroupList"],
  ["/apis/coordination.k8s.io", "application/*", "APIGroup"],
];
for (const [path, accept, kind] of aggregatedRows) {
  test(`GET ${path} as ${accept} is ${kind}`, async () => assert.equal((await get(path, accept)).body.kind, kind));
}

test("aggregated discovery", async () => {
  const { headers, body } = await get("/api", v2);
  assert.deepEqual([headers["content-type"], headers.vary, headers["cache-control"]], [v2, "Accept", "public"]);
  const [core] = body.items;
  assert.deepEqual(
    [body.apiVersion, core.metadata, core.versions[0].version, core.versions[0].freshness],
    ["apidiscovery.k8s.io/v2", {}, "v1", "Current"],
  );
  assert.deepEqual(
    core.versions[0].resources.find(({ resource }: { resource: string }) => resource === "namespaces"),
    {
      resource: "namespaces",
      responseKind: { group: "", version: "", kind: "Namespace" },
      scope: "Cluster",
      singularResource: "namespace",
      verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
      shortNames: ["ns"],
      subresources: [
        { subresource: "finalize", responseKind: { group: "", version: "", kind: "Namespace" }, verbs: ["update"] },
        {
          subresource: "status",
          responseKind: { group: "", version: "", kind: "Namespace" },
          verbs: ["get", "patch", "update"],
        },
      ],
    },
  );
  const groups: string[] = (await get("/apis", v2)).body.items.map(
    ({ metadata }: { metadata: { name: string } }) => metadata.name,
  );
  assert.deepEqual(groups.slice(0, 4), ["apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io"]);
});

test("aggregated discovery in other forms", async () => {
  const parameters = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const protobuf = await ask(discovery.apis, {
    path: "/apis",
    headers: { accept: `application/vnd.kubernetes.protobuf${parameters}` },
  });
  assert.equal(protobuf.headers["content-type"], `application/vnd.kubernetes.protobuf${parameters}`);
  const { body, headers } = await get("/apis", v2);
  assert.equal(protobuf.headers.etag, headers.etag);
  const { items } = decodeAnswer(protobuf.body) as {
    items: { metadata: { name: string }; versions: { resources: object[] }[] }[];
  };
  // Without what is empty.
  assert.partialDeepStrictEqual(body.items[1].versions[0].resources[0], items[1]?.versions[0]?.resources[0]);
  assert.equal(items.length, body.items.length);
  const yaml = await ask(discovery.apis, { path: "/apis", headers: { accept: `application/yaml${parameters}` } });
  assert.match(yaml.body.toString(), /^apiVersion: apidiscovery\.k8s\.io\/v2\nitems:\n- metadata:\n/);
});

test("aggregated discovery that has not changed is not sent again", async () => {
  const { headers } = await get("/apis", v2);
  const again = await ask(discovery.apis, {
    path: "/apis",
    headers: { accept: v2, "if-none-match": headers.etag as string },
  });
  assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, headers.etag]);
});

const rejections: [path: string, accept: string, message: string][] = [
  ["/api", v2.replace("v=v2", "v=v9"), "only the following media types are accepted: application/json"],
  ["/api/v1", v2, "only the following media types are accepted: application/json"],
  ["/api/v1", "text/html", "406: Not Acceptable\n\nAvailable representations: application/json"],
  ["/api/v1", "application/*", "406: Not Acceptable\n\nAvailable representations: application/json"],
  ["/apis/coordination.k8s.io", "text/html", "only the following media types are accepted: application/json"],
];
for (const [path, accept, start] of rejections) {
  test(`GET ${path} as ${accept} is rejected`, async () => {
    await assert.rejects(
      get(path, accept),
      (error: { status: { code: number; message: string } }) =>
        error.status.code === 406 && error.status.message.startsWith(start),
    );
  });
}

for (const path of ["/api/v2", "/api/v1/extra/more", "/apis/apps/v9", "/apis/apps/v1/extra/more"]) {
  test(`GET ${path} is not found in an existing group`, async () => {
    const isNotServed = ({ status }: ApiError): boolean =>
      status.code === 404 && status.message === "the server could not find the requested resource";
    await assert.rejects(ask(handlerOf(path, discovery), { path }), isNotServed);
  });
}

for (const path of ["/apis/example.com", "/apis/example.com/v1", "/apis/constructor"]) {
  test(`GET ${path} is not found`, async () => {
    const { status, body } = await ask(handlerOf(path, discovery), { path });
    assert.deepEqual([status, body.toString()], [404, "404 page not found\n"]);
  });
}

const noEnvelope = { apiVersion: "", kind: "", raw: "", contentEncoding: "", contentType: "" };

test("rejects other methods as upstream", async () => {
  const message = "the server does not allow this method on the requested resource";
  await assert.rejects(
    ask(discovery.api, { method: "POST", path: "/api/v1" }),
    ({ status }: ApiError) => status.code === 405 && status.message === message,
  );
});

test("names no version in the envelope of /api in protobuf, as upstream", async () => {
  const { body } = await ask(discovery.api, {
    path: "/api",
    headers: { accept: "application/vnd.kubernetes.protobuf" },
  });
  assert.deepEqual({ ...readEnvelope(body), raw: "" }, { ...noEnvelope, kind: "APIVersions" });
});

const methodRows: [path: string, status: number][] = [
  ["/api", 405],
  ["/apis", 200],
  ["/apis/", 200],
  ["/apis/apps", 200],
  ["/apis/apps/v1", 405],
  ["/apis/apiregistration.k8s.io", 405],
];

for (const [path, expected] of methodRows) {
  test(`POST ${path} is ${expected}, as upstream`, async () => {
    const status = await ask(handlerOf(path, discovery), { method: "POST", path }).then(
      (answer) => answer.status,
      (error: ApiError) => error.status.code,
    );
    assert.equal(status, expected);
  });
}

test("indents for browsers and curl", async () => {
  const { body } = await ask(discovery.api, { path: "/api", headers: { "user-agent": "curl/8" } });
  assert.match(body.toString(), /^\{\n {2}"kind": "APIVersions",\n/);
});

test("enabled and disabled versions appear and disappear", async () => {
  const from = create(
    "apps/v1=false,internal.apiserver.k8s.io/v1alpha1=true,networking.k8s.io/v1beta1/ipaddresses=true",
  );
  const names = (await get("/apis", undefined, from)).body.groups.map(({ name }: { name: string }) => name);
  assert.deepEqual([names.includes("apps"), names.includes("internal.apiserver.k8s.io")], [false, true]);
  const { body } = await get("/apis/networking.k8s.io/v1beta1", undefined, from);
  assert.deepEqual(
    body.resources.map(({ name }: { name: string }) => name),
    ["ipaddresses"],
  );
});

test("documents follow the catalog", async () => {
  const catalog = builtinCatalog();
  const from = createDiscovery({ catalog, serverAddress: () => "", paths: [] });
  const { headers } = await get("/apis", v2, from);
  const pods = catalog.findResource("", "pods")?.definition ?? assert.fail();
  catalog.add({ ...pods, group: "example.com", resource: "things", kind: "Thing", custom: true });
  assert.equal((await get("/apis/example.com", undefined, from)).body.name, "example.com");
  assert.notEqual((await get("/apis", v2, from)).headers.etag, headers.etag);
});

test("/version is JSON alone", async () => {
  const { status } = await ask(versionHandler(defaultVersion), { path: "/version", headers: { accept: "*/*" } });
  assert.equal(status, 200);
  for (const accept of ["application/yaml", "text/html", "application/*"]) {
    const isRejected = ({ message }: ApiError): boolean =>
      message === "406: Not Acceptable\n\nAvailable representations: application/json";
    await assert.rejects(ask(versionHandler(defaultVersion), { path: "/version", headers: { accept } }), isRejected);
  }
});
