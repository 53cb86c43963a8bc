import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { ensureBootState } from "./boot-state.ts";

const options = { port: 6443, serviceClusterIpRange: "10.0.0.0/24" };

test("creates the boot state once and does not change existing objects", async () => {
  const cluster = await openMemoryRegistry();
  await ensureBootState(cluster.registry, options);
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    assert.equal((await cluster.find(["/namespaces", ""], name))?.status.phase, "Active", name);
  }
  const service = await cluster.find(["/services", "default"], "kubernetes");
  assert.equal(service?.spec.clusterIP, "10.0.0.1");
  assert.deepEqual(service?.spec.ports, [{ name: "https", protocol: "TCP", port: 443, targetPort: 6443 }]);
  assert.equal(
    (await cluster.find(["scheduling.k8s.io/priorityclasses", ""], "system-node-critical"))?.value,
    2_000_001_000,
  );

  await cluster.change(["/services", "default"], "kubernetes", (object) => {
    object.metadata.labels = { mine: "yes" };
  });
  const revision = await cluster.registry.storage.current();
  await ensureBootState(cluster.registry, options);
  assert.equal(await cluster.registry.storage.current(), revision);
  await cluster.close();
});
