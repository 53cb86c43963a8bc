/**
 * Compares `request` and `namespaceObject` with the values of kube-apiserver in
 * testdata/policies.jsonl.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { namespaceValue, type RequestAttributes, requestValue } from "./request-value.ts";

const [first = ""] = readFileSync(join(import.meta.dirname, "testdata/policies.jsonl"), "utf8").split("\n");
const recorded = JSON.parse(first);

const pod = { group: "", version: "v1", kind: "Pod" };
const pods = { group: "", version: "v1", resource: "pods" };
const attributes: RequestAttributes = {
  operation: "CREATE",
  kind: pod,
  resource: pods,
  requestKind: pod,
  requestResource: pods,
  subresource: "",
  namespace: "ns",
  name: "p",
  user: { name: "bob", uid: "", groups: ["g1", "g2"], extra: new Map([["k", ["v"]]]) },
  dryRun: false,
  options: { apiVersion: "meta.k8s.io/v1", kind: "CreateOptions", fieldManager: "fm" },
};

test("returns the value of request", () =>
  assert.deepEqual(requestValue(attributes), { ...recorded.request, uid: "" }));

test("leaves empty fields out of request", () => {
  const user = { name: "bob", uid: "", groups: [], extra: new Map() };
  const value = requestValue({ ...attributes, name: "", namespace: "", subresource: "status", user }) as {
    [key: string]: unknown;
  };
  assert.deepEqual(value.userInfo, { username: "bob" });
  assert.deepEqual(
    [value.name, value.namespace, value.subResource, value.requestSubResource],
    [undefined, undefined, "status", "status"],
  );
});

test("returns the value of namespaceObject", () => {
  const metadata = { ...recorded.namespaceObject.metadata, managedFields: [{}], ownerReferences: [{}] };
  const namespace = { apiVersion: "v1", kind: "Namespace", ...recorded.namespaceObject, metadata };
  assert.deepEqual(namespaceValue(namespace), recorded.namespaceObject);
});
