import assert from "node:assert/strict";
import { test } from "node:test";
import { requestInfo } from "./request-info.ts";

// method, target, verb, group/version, namespace, resource, subresource, name
const rows: [string, string, string, string, string, string, string, string][] = [
  ["GET", "/api/v1/namespaces", "list", "/v1", "", "namespaces", "", ""],
  ["GET", "/api/v1/namespaces/other", "get", "/v1", "other", "namespaces", "", "other"],
  ["PUT", "/api/v1/namespaces/other/finalize", "update", "/v1", "other", "namespaces", "finalize", "other"],
  ["GET", "/api/v1/namespaces/other/pods", "list", "/v1", "other", "pods", "", ""],
  ["POST", "/api/v1/namespaces/other/pods/a/eviction", "create", "/v1", "other", "pods", "eviction", "a"],
  ["GET", "/api/v1/pods?watch=true", "watch", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods?watch", "watch", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods?watch=false", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/watch/namespaces/other/pods/a", "watch", "/v1", "other", "pods", "", "a"],
  ["POST", "/api/v1/watch/namespaces/other/pods", "watch", "/v1", "other", "pods", "", ""],
  ["GET", "/apis/example.com/v1/things//status", "list", "example.com/v1", "", "things", "status", ""],
  ["GET", "/api/v1/namespaces/other/pods/a?watch=1", "watch", "/v1", "other", "pods", "", "a"],
  ["GET", "/api/v1/namespaces/x/namespaces", "get", "/v1", "x", "namespaces", "namespaces", "x"],
  ["GET", "/api/v1/namespaces/x/namespaces/y", "get", "/v1", "x", "namespaces", "namespaces", "x"],
  // Kinds of custom resources can have the plural `namespaces`.
  ["GET", "/apis/example.com/v1/namespaces/x/namespaces", "list", "example.com/v1", "x", "namespaces", "", ""],
  ["PUT", "/apis/example.com/v1/namespaces/x/namespaces/y", "update", "example.com/v1", "x", "namespaces", "", "y"],
  ["GET", "/apis/example.com/v1/namespaces/x", "get", "example.com/v1", "x", "namespaces", "", "x"],
  ["GET", "/api/v1/pods//", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/namespaces/x/services/s/proxy/a//b", "get", "/v1", "x", "services", "proxy", "s"],
  ["HEAD", "/api/v1/nodes/n", "get", "/v1", "", "nodes", "", "n"],
  ["DELETE", "/apis/apps/v1/namespaces/x/deployments", "deletecollection", "apps/v1", "x", "deployments", "", ""],
  ["PATCH", "/apis/apps/v1/namespaces/x/deployments/d/scale", "patch", "apps/v1", "x", "deployments", "scale", "d"],
  ["GET", "/api/v1/namespaces/other/pods/a/log?watch=1", "get", "/v1", "other", "pods", "log", "a"],
  ["GET", "/api/v1/namespaces/x/services/s/proxy/a?watch=1", "get", "/v1", "x", "services", "proxy", "s"],
  ["POST", "/api/v1/watch/namespaces/other/pods", "watch", "/v1", "other", "pods", "", ""],
  ["DELETE", "/api/v1/watch/namespaces/other/pods/a", "watch", "/v1", "other", "pods", "", "a"],
  ["GET", "/api/v1/proxy/namespaces/other/pods/a/b", "proxy", "/v1", "other", "pods", "", "a"],
  // A name in a selector.
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da", "list", "/v1", "", "pods", "", "a"],
  ["GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name%3D%3Da", "watch", "/v1", "", "pods", "", "a"],
  ["GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn,metadata.name%3Da", "list", "/v1", "", "pods", "", "a"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Db,metadata.name%3Da", "list", "/v1", "", "pods", "", "a"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name!%3Da", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da%2Fb", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da,b", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da&limit=x", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da&labelSelector=%3D", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/watch/pods?fieldSelector=metadata.name%3Da", "watch", "/v1", "", "pods", "", ""],
  [
    "DELETE",
    "/api/v1/namespaces/other/pods?fieldSelector=metadata.name%3Da",
    "deletecollection",
    "/v1",
    "other",
    "pods",
    "",
    "",
  ],
  ["POST", "/api/v1/namespaces/other/pods?fieldSelector=metadata.name%3Da", "create", "/v1", "other", "pods", "", ""],
  [
    "GET",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
    "get",
    "rbac.authorization.k8s.io/v1",
    "",
    "clusterroles",
    "",
    "system:node",
  ],
];

for (const [method, target, verb, groupVersion, namespace, resource, subresource, name] of rows) {
  test(`${method} ${target}`, () => {
    const info = requestInfo(method, target);
    assert.ok(info.isResourceRequest);
    assert.deepEqual(
      [info.verb, `${info.group}/${info.version}`, info.namespace, info.resource, info.subresource, info.name],
      [verb, groupVersion, namespace, resource, subresource, name],
    );
  });
}

// method, path, selectors that the authorizer sees
const selecting: [string, string, string, string][] = [
  ["GET", "/api/v1/pods", "a=b", "c=d"],
  ["DELETE", "/api/v1/namespaces/other/pods", "a=b", "c=d"],
  ["GET", "/api/v1/watch/pods", "", ""],
  ["GET", "/api/v1/namespaces/other/pods/a", "", ""],
  ["POST", "/api/v1/namespaces/other/pods", "", ""],
];
for (const [method, path, fieldSelector, labelSelector] of selecting) {
  test(`selectors of ${method} ${path}`, () => {
    const info = requestInfo(method, `${path}?fieldSelector=a%3Db&labelSelector=c%3Dd`);
    assert.deepEqual([info.fieldSelector, info.labelSelector], [fieldSelector, labelSelector]);
  });
}

const plainPaths = [
  "/",
  "/api",
  "/api/v1",
  "/apis",
  "/apis/apps",
  "/apis/apps/v1",
  "/livez/ping",
  "/openapi/v3/apis/apps/v1",
];
for (const target of plainPaths) {
  test(`${target} is not a resource request`, () => assert.equal(requestInfo("GET", target).isResourceRequest, false));
}

/** Upstream authorizes them as these, and has no route for them, except for the empty namespace. */
const emptySegments: [target: string, groupVersion: string, namespace: string, resource: string, name: string][] = [
  ["//api/v1/pods", "/v1", "", "pods", ""],
  ["/api//v1/pods", "/", "", "v1", "pods"],
  ["/api/v1//pods", "/v1", "", "", "pods"],
  ["/apis//v1/pods", "/v1", "", "pods", ""],
  ["/api/v1/namespaces//pods", "/v1", "", "pods", ""],
  ["/api/v1/namespaces/x//pods", "/v1", "x", "", "pods"],
  ["/api/v1/watch//pods", "/v1", "", "", "pods"],
];
for (const [target, ...want] of emptySegments) {
  test(`${target} is authorized as a resource, without a route`, () => {
    const { isMalformed, group, version, namespace, resource, name } = requestInfo("GET", target);
    assert.deepEqual([isMalformed, `${group}/${version}`, namespace, resource, name], [true, ...want]);
  });
}

test("rejects a malformed escape", () => {
  for (const end of ["%zz", "%f", "%", "%ff%"])
    assert.throws(() => requestInfo("GET", `/api/v1/pods/${end}`), /invalid URL escape/);
});

const paths: [target: string, path: string][] = [
  ["/a%2Fb%20c", "/a/b c"],
  ["/%E2%82%AC", "/\u20ac"],
  ["/%ff", "/\ufffd"],
  ["/a%ffb%C3%28", "/a\ufffdb\ufffd("],
  ["/%E2%82/%e2%82%ac", "/\ufffd/\u20ac"],
  ["/%ED%A0%80", "/\ufffd\ufffd\ufffd"],
];
for (const [target, path] of paths)
  test(`reads ${target}`, () => assert.equal(requestInfo("GET", `${target}?a=%ff`).path, path));

test("a path that is not UTF-8 names an object as any other path", () => {
  const { isResourceRequest, name } = requestInfo("GET", "/api/v1/namespaces/default/pods/%ff");
  assert.deepEqual([isResourceRequest, name], [true, "\ufffd"]);
});

test("a second question mark is part of the first parameter's name", () => {
  const { query } = requestInfo("POST", "/api/v1/namespaces/a/pods??dryRun=All&timeout=1s");
  assert.deepEqual([...query.keys()], ["?dryRun", "timeout"]);
});
