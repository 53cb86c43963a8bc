import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { ensureBootState } from "./bootstrap/boot-state.ts";
import { ensureRbacPolicy } from "./bootstrap/rbac/ensure-rbac-policy.ts";
import { roleAggregation } from "./role-aggregation.ts";

const clusterRoles: Place = ["rbac.authorization.k8s.io/clusterroles", ""];
const logger = { info() {}, warn() {}, error() {} };

/** Runs the event loop long enough for all work that needs only the memory store. */
async function settle(): Promise<void> {
  await passTurns(200);
}

test("aggregates the rules of other roles by label, without duplicates, and follows changes", async () => {
  const cluster = await openMemoryRegistry();
  await ensureBootState(cluster.registry, {
    port: 6443,
    serviceClusterIpRange: "10.0.0.0/24",
  });
  await ensureRbacPolicy(cluster.registry);
  const controller = roleAggregation({ registry: cluster.registry, logger });
  controller.start();
  await settle();
  const rulesOf = async (name: string): Promise<unknown[]> => (await cluster.find(clusterRoles, name))?.rules ?? [];
  const [view, edit, admin] = [await rulesOf("view"), await rulesOf("edit"), await rulesOf("admin")];
  assert.deepEqual(view, await rulesOf("system:aggregate-to-view"));
  // `edit` includes the rules of `view`, and `admin` those of `edit`.
  assert.ok(view.length > 0 && edit.length > view.length && admin.length > edit.length);
  const role = await cluster.find(clusterRoles, "view");
  assert.deepEqual(
    role?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation]),
    [
      ["clusterrole-aggregation-controller", "Apply"],
      ["kube-apiserver", "Update"],
    ],
  );

  const rule = { apiGroups: ["a.example"], resources: ["things"], verbs: ["get"] };
  const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
  for (const name of ["x", "y"])
    await cluster.create(clusterRoles, { kind: "ClusterRole", metadata: { name, labels }, rules: [rule] });
  await settle();
  assert.deepEqual(await rulesOf("view"), [...view, rule]);
  assert.deepEqual((await rulesOf("admin")).length, admin.length + 1);
  await cluster.delete(clusterRoles, "x");
  await cluster.change(clusterRoles, "y", (object) => {
    object.metadata.labels = {};
  });
  await settle();
  assert.deepEqual([await rulesOf("view"), await rulesOf("admin")], [view, admin]);

  // Manual changes are reverted.
  await cluster.change(clusterRoles, "view", (object) => {
    object.rules = [rule];
  });
  await settle();
  assert.deepEqual(await rulesOf("view"), view);
  await controller.stop();

  // A new start finds nothing to do.
  const versions = async (): Promise<unknown[]> => {
    const found = [];
    for (const name of ["view", "edit", "admin"])
      found.push((await cluster.find(clusterRoles, name))?.metadata.resourceVersion);
    return found;
  };
  const before = await versions();
  const restarted = roleAggregation({ registry: cluster.registry, logger });
  restarted.start();
  await settle();
  assert.deepEqual(await versions(), before);
  await restarted.stop();
  await cluster.close();
});
