import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { ensureDefaultServiceRange, type RangeProblem } from "./default-service-range.ts";

const place = ["networking.k8s.io/servicecidrs", ""] as const;

test("creates the default ServiceCIDR with the condition Ready, and does not write it again", async () => {
  const cluster = await openMemoryRegistry();
  await ensureDefaultServiceRange(cluster.registry, "10.0.0.0/24");
  const range = await cluster.find(place, "kubernetes");
  assert.deepEqual(range?.spec, { cidrs: ["10.0.0.0/24"] });
  const [{ lastTransitionTime, ...ready }, ...others] = range?.status.conditions ?? [{}];
  assert.deepEqual(ready, {
    type: "Ready",
    status: "True",
    reason: "",
    message: "Kubernetes default Service CIDR is ready",
  });
  assert.match(lastTransitionTime, /Z$/);
  assert.deepEqual(others, []);
  assert.deepEqual(
    range?.metadata.managedFields?.map(({ manager, operation, subresource }) => [manager, operation, subresource]),
    [
      ["kubernetes-service-cidr-controller", "Apply", "status"],
      ["kube-apiserver", "Update", undefined],
    ],
  );

  const revision = await cluster.registry.storage.current();
  await ensureDefaultServiceRange(cluster.registry, "10.0.0.0/24");
  assert.equal(await cluster.registry.storage.current(), revision);
  await cluster.close();
});

test("adds the range of a second family, but does not change the ranges of another server", async () => {
  const cluster = await openMemoryRegistry();
  const cidrs = async () => (await cluster.find(place, "kubernetes"))?.spec.cidrs;
  await ensureDefaultServiceRange(cluster.registry, "10.0.0.0/24");
  await ensureDefaultServiceRange(cluster.registry, "10.0.0.0/24,fd00::/112");
  assert.deepEqual(await cidrs(), ["10.0.0.0/24", "fd00::/112"]);
  const problems: RangeProblem[] = [];
  await ensureDefaultServiceRange(cluster.registry, "10.1.0.0/24", (_range, problem) => problems.push(problem));
  assert.deepEqual(await cidrs(), ["10.0.0.0/24", "fd00::/112"]);
  assert.deepEqual(problems, [
    {
      kind: "inconsistent",
      reason: "KubernetesDefaultServiceCIDRInconsistent",
      message:
        "The default ServiceCIDR [10.0.0.0/24 fd00::/112] does not match the controller flag configurations [10.1.0.0/24]",
    },
  ]);
  await cluster.close();
});

test("keeps the condition Ready of another writer", async () => {
  const cluster = await openMemoryRegistry();
  const unready = {
    type: "Ready",
    status: "False",
    reason: "Gone",
    message: "no range",
    lastTransitionTime: "2026-01-02T03:04:05Z",
  };
  await ensureDefaultServiceRange(cluster.registry, "10.0.0.0/24");
  await cluster.change(
    place,
    "kubernetes",
    (object) => {
      object.status = { conditions: [unready] };
    },
    "status",
  );
  const problems: RangeProblem[] = [];
  await ensureDefaultServiceRange(cluster.registry, "10.0.0.0/24", (_range, problem) => problems.push(problem));
  assert.deepEqual(problems, [{ kind: "notReady", reason: "Gone", message: "Configuration matches, but no range" }]);
  assert.deepEqual((await cluster.find(place, "kubernetes"))?.status.conditions, [unready]);
  await cluster.close();
});
