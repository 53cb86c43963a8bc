/** Compares seeded objects with those that the slow path creates, with admission and validation: their bytes are equal. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { silentLogger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { apiServiceOf, builtinApiServices } from "../api-services/desired-api-services.ts";
import { bootstrapObjects } from "../flow-control/objects/bootstrap-objects.ts";
import { roleAggregation } from "../role-aggregation.ts";
import { rootCaConfigMap } from "../root-ca.ts";
import { defaultServiceAccount } from "../service-account.ts";
import { systemObjects } from "./boot-state.ts";
import { type BootObject, ensureObject } from "./ensure-object.ts";
import { ensureRbacPolicy } from "./rbac/ensure-rbac-policy.ts";
import { bootstrapPolicy } from "./rbac/policy.ts";
import { seed } from "./seed.ts";

function bootObjects({ catalog, gates }: RegistryContext): BootObject[] {
  const place = { group: "apiregistration.k8s.io", version: "v1", resource: "apiservices", namespace: "" };
  const apiServices = builtinApiServices(catalog).map((desired) => ({ ...place, object: apiServiceOf(desired) }));
  const inDefault = { group: "", version: "v1", namespace: "default" };
  const ofControllers = [
    { ...inDefault, resource: "serviceaccounts", object: defaultServiceAccount() },
    { ...inDefault, resource: "configmaps", object: rootCaConfigMap("PEM") },
  ];
  return [...systemObjects, ...bootstrapPolicy(gates), ...bootstrapObjects, ...apiServices, ...ofControllers];
}

/** Waits for what the controller does after its first list. */
const turns = 200;

/** The stored values, with equal texts in place of uids. */
async function storedBy(
  write: (registry: RegistryContext, objects: readonly BootObject[]) => Promise<unknown>,
): Promise<Map<string, string>> {
  const cluster = await openMemoryRegistry({ clock: manualClock(Date.parse("2026-01-02T03:04:05Z")) });
  await write(cluster.registry, bootObjects(cluster.registry));
  const { entries } = await cluster.registry.storage.range("/registry/");
  await cluster.close();
  return new Map(entries.map(({ key, value }) => [key, String(value).replace(/"uid":"[0-9a-f-]{36}"/, '"uid":""')]));
}

test("seeded objects have the bytes of created ones, except for the uid", async () => {
  const seeded = await storedBy(async (registry, objects) => assert.ok(await seed(registry, objects, "manager")));
  const created = await storedBy(async (registry, objects) => {
    for (const object of objects) assert.equal(await ensureObject(registry, object, "manager"), undefined);
  });
  assert.ok(seeded.size > 100);
  assert.deepEqual(seeded, created);
});

test("seeded ClusterRoles have the bytes of created ones after their aggregation", async () => {
  const aggregate = async (registry: RegistryContext): Promise<void> => {
    const controller = roleAggregation({ registry, logger: silentLogger });
    controller.start();
    await passTurns(turns);
    await controller.stop();
  };
  const byController = await storedBy(async (registry) => {
    await ensureRbacPolicy(registry);
    await aggregate(registry);
  });
  const seeded = await storedBy(async (registry) => {
    await ensureRbacPolicy(registry, { aggregates: true });
    const before = await registry.storage.current();
    await aggregate(registry);
    assert.equal(await registry.storage.current(), before);
  });
  assert.match(byController.get("/registry/clusterroles/admin") as string, /"rules":\[\{/);
  assert.deepEqual(seeded, byController);
});
