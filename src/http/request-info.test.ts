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
  ["GET", "/api/v1/namespaces/other/pods/a?watch=1", "watch", "/v1", "other", "pods", "", "a"],
  ["GET", "/api/v1/namespaces/x/namespaces", "get", "/v1", "x", "namespaces", "namespaces", "x"],
  ["GET", "/api/v1/namespaces/x/namespaces/y", "get", "/v1", "x", "namespaces", "namespaces", "x"],
  ["GET", "/api/v1/pods//", "list", "/v1", "", "pods", "", ""],
  ["GET", "/api/v1/namespaces/x/services/s/proxy/a//b", "get", "/v1", "x", "services", "proxy", "s"],
  ["HEAD", "/api/v1/nodes/n", "get", "/v1", "", "nodes", "", "n"],
  ["DELETE", "/apis/apps/v1/namespaces/x/deployments", "deletecollection", "apps/v1", "x", "deployments", "", ""],
  ["PATCH", "/apis/apps/v1/namespaces/x/deployments/d/scale", "patch", "apps/v1", "x", "deployments", "scale", "d"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da", "list", "/v1", "", "pods", "", "a"],
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

const plainPaths = ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/livez/ping", "/openapi/v3/apis/apps/v1"];
const emptySegments = ["//api/v1/pods", "/api//v1/pods", "/api/v1//pods", "/apis//v1/pods", "/api/v1/namespaces//pods", "/api/v1/watch//pods"];
for (const target of [...plainPaths, ...emptySegments]) {
  test(`${target} is no resource`, () => assert.equal(requestInfo("GET", target).isResourceRequest, false));
}

test("a broken escape is refused", () => assert.throws(() => requestInfo("GET", "/api/v1/pods/%zz"), /invalid URL escape/));
