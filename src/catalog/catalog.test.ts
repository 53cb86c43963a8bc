import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog } from "../../test/support/builtin-catalog.ts";
import { openCatalog } from "./catalog.ts";
import type { ResourceDefinition } from "./contract.ts";

const pods = builtinCatalog().findResource("", "pods")?.definition as ResourceDefinition;

/** A custom resource with the members that the catalog reads. */
function custom(group: string, resource: string, kind = "Thing"): ResourceDefinition {
  return { ...pods, group, resource, kind, custom: true };
}

test("finds resources by path, by kind and by name", () => {
  const catalog = builtinCatalog();
  assert.equal(catalog.find("apps", "v1", "deployments")?.resource.definition.kind, "Deployment");
  assert.equal(catalog.findKind("apps", "v1", "Deployment")?.resource.definition.resource, "deployments");
  assert.equal(catalog.findResource("apps", "deployments")?.definition.kind, "Deployment");
  assert.equal(catalog.find("autoscaling", "v1", "horizontalpodautoscalers")?.version.version, "v1");
  for (const name of ["__proto__", "constructor", ""]) assert.equal(catalog.find("", "v1", name), undefined);
});

test("finds a disabled version, but not a resource without enabled versions", () => {
  const catalog = builtinCatalog();
  assert.equal(catalog.find("networking.k8s.io", "v1beta1", "ipaddresses")?.version.served, false);
  assert.equal(catalog.findResource("internal.apiserver.k8s.io", "storageversions"), undefined);
});

test("installs a definition once, when it is first used", () => {
  const installed: string[] = [];
  const catalog = openCatalog([pods], (definition) => {
    installed.push(definition.resource);
    return { definition, store: undefined };
  });
  assert.deepEqual(installed, []);
  const found = catalog.find("", "v1", "pods");
  assert.equal(catalog.find("", "v1", "pods"), found);
  assert.equal(catalog.findKind("", "v1", "Pod"), found);
  assert.equal(catalog.findResource("", "pods"), found?.resource);
  assert.deepEqual(installed, ["pods"]);
});

test("adds and removes custom definitions", () => {
  const catalog = builtinCatalog();
  const builtins = catalog.definitions().length;
  assert.equal(catalog.add(custom("b.example.com", "things")), undefined);
  assert.equal(catalog.add(custom("a.example.com", "things")), undefined);
  assert.equal(catalog.generation, 2);
  assert.deepEqual(
    catalog
      .definitions()
      .slice(builtins)
      .map(({ group }) => group),
    ["a.example.com", "b.example.com"],
  );
  const before = catalog.findResource("a.example.com", "things");
  assert.equal(catalog.add(custom("a.example.com", "things", "Other")), before);
  assert.equal(catalog.findKind("a.example.com", "v1", "Thing"), undefined);
  assert.equal(catalog.findKind("a.example.com", "v1", "Other")?.resource.definition.resource, "things");
  catalog.remove("a.example.com", "things");
  catalog.remove("a.example.com", "things");
  assert.equal(catalog.generation, 4);
  assert.equal(catalog.find("a.example.com", "v1", "things"), undefined);
  assert.equal(catalog.definitions().length, builtins + 1);
});
