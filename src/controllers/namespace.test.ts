import assert from "node:assert/strict";
import { test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import type { Clock } from "../apimachinery/clock.ts";
import { routeStorage } from "../storage/routed-storage.ts";
import { namespaceController } from "./namespace.ts";

const namespaces: Place = ["/namespaces", ""];
const configMaps: Place = ["/configmaps", "ns"];
const logger = { info() {}, warn() {}, error() {} };

/** A clock whose timers fire when the test calls `fire`. */
function handClock(): Clock & { fire(): void } {
  let timers: (() => void)[] = [];
  return {
    now: () => Date.UTC(2020, 0, 1),
    after(_delayMs, run) {
      timers.push(run);
      return () => {
        timers = timers.filter((timer) => timer !== run);
      };
    },
    fire() {
      for (const run of timers.splice(0)) run();
    },
  };
}

/** Runs the event loop long enough for all work that needs only the memory store. */
async function settle(): Promise<void> {
  await passTurns(200);
}

async function openCluster(): Promise<{ cluster: MemoryRegistry; clock: ReturnType<typeof handClock> }> {
  const clock = handClock();
  const cluster = await openMemoryRegistry({ clock });
  await cluster.create(namespaces, { metadata: { name: "ns" } });
  return { cluster, clock };
}

const conditionsOf = async (cluster: MemoryRegistry): Promise<string[]> => {
  const { status } = (await cluster.find(namespaces, "ns")) ?? { status: {} };
  return (status.conditions ?? []).map(
    ({ type, status: value, reason, message }: Record<string, string>) => `${type} ${value} ${reason}: ${message}`,
  );
};

test("deletes a namespace with its content", async () => {
  const { cluster } = await openCluster();
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  for (const name of ["a", "b"]) await cluster.create(configMaps, { metadata: { name } });
  await cluster.create(["/secrets", "ns"], { metadata: { name: "s" } });
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.equal(await cluster.find(configMaps, "a"), undefined);
  assert.equal(await cluster.find(["/secrets", "ns"], "s"), undefined);
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  await controller.stop();
  await cluster.close();
});

test("counts only objects that no loaded cache shows", async () => {
  const { cluster } = await openCluster();
  const { catalog, storage } = cluster.registry;
  const stores = catalog
    .definitions()
    .flatMap(({ group, resource }) => catalog.findResource(group, resource)?.store ?? []);
  for (const { cache, form } of stores) if (form.prefix !== "/registry/secrets/") await cache.ready();
  const counted: string[] = [];
  const counting: typeof storage = Object.assign(Object.create(storage), {
    current: () => storage.current(),
    commit: storage.commit.bind(storage),
    count(prefix: string) {
      counted.push(prefix);
      return storage.count(prefix);
    },
  });
  const controller = namespaceController({ registry: { ...cluster.registry, storage: counting }, logger });
  controller.start();
  await cluster.create(configMaps, { metadata: { name: "a" } });
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  assert.deepEqual(counted, ["/registry/configmaps/ns/", "/registry/secrets/ns/"]);
  await controller.stop();
  await cluster.close();
});

test("compares the cache of a resource with the store that has its objects", async () => {
  const { cluster } = await openCluster();
  const { catalog, storage } = cluster.registry;
  const secrets = catalog.findResource("", "secrets")?.store;
  await secrets?.cache.ready();
  const counted: string[] = [];
  const other: typeof storage = Object.assign(Object.create(storage), {
    current: async () => Number.MAX_SAFE_INTEGER, // The cache lags behind.
    count(prefix: string) {
      counted.push(prefix);
      return storage.count(prefix);
    },
  });
  const routed = routeStorage(storage, [{ prefix: "/registry/secrets/", storage: other }]);
  const controller = namespaceController({ registry: { ...cluster.registry, storage: routed }, logger });
  controller.start();
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  assert.deepEqual(counted, ["/registry/secrets/ns/"]);
  await controller.stop();
  await cluster.close();
});

test("deletes a namespace that was terminating before the start", async () => {
  const { cluster } = await openCluster();
  await cluster.delete(namespaces, "ns");
  assert.equal((await cluster.find(namespaces, "ns"))?.status.phase, "Terminating");
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  await settle();
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  await controller.stop();
  await cluster.close();
});

test("waits for finalizers of the content, and reports them in conditions", async () => {
  const { cluster, clock } = await openCluster();
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  await cluster.create(configMaps, { metadata: { name: "held", finalizers: ["example.com/hold"] } });
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.deepEqual(await conditionsOf(cluster), [
    "NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered",
    "NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed",
    "NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization",
    "NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
    "NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
  ]);
  await cluster.change(configMaps, "held", (object) => {
    delete object.metadata.finalizers;
  });
  clock.fire();
  await settle();
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  await controller.stop();
  await cluster.close();
});

test("deletes Pods before other content", async () => {
  const { cluster, clock } = await openCluster();
  const pods: Place = ["/pods", "ns"];
  const policies: Place = ["networking.k8s.io/networkpolicies", "ns"];
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
  await cluster.create(pods, { metadata: { name: "p" }, spec });
  await cluster.create(policies, { metadata: { name: "guard" }, spec: { podSelector: {} } });
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.notEqual((await cluster.find(pods, "p"))?.metadata.deletionTimestamp, undefined);
  assert.equal((await cluster.find(policies, "guard"))?.metadata.deletionTimestamp, undefined);
  const all = [
    "ResourcesDiscovered",
    "ParsedGroupVersions",
    "ContentDeleted",
    "ContentRemoved",
    "ContentHasNoFinalizers",
  ];
  const reasons = (await conditionsOf(cluster)).map((condition) => / False (\w+):/.exec(condition)?.[1]);
  assert.deepEqual(reasons, all);
  await cluster.delete(pods, "p", { gracePeriodSeconds: 0 });
  clock.fire();
  await settle();
  assert.equal(await cluster.find(policies, "guard"), undefined);
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  await controller.stop();
  await cluster.close();
});

test("reports events for both of their resources", async () => {
  const { cluster } = await openCluster();
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  const event = {
    metadata: { name: "e", finalizers: ["example.com/hold"] },
    involvedObject: { kind: "Pod", name: "p", namespace: "ns" },
  };
  await cluster.create(["/events", "ns"], event);
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.deepEqual((await conditionsOf(cluster)).slice(3), [
    "NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: events. has 1 resource instances, events.events.k8s.io has 1 resource instances",
    "NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances",
  ]);
  await controller.stop();
  await cluster.close();
});

test("waits for content that cannot be read, deletes the rest, and reports the failure", async () => {
  const { cluster, clock } = await openCluster();
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  await cluster.create(configMaps, { metadata: { name: "a" } });
  const key = "/registry/secrets/ns/broken";
  await cluster.registry.storage.commit([], [{ key, value: Buffer.from("{oops") }]);
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.equal(await cluster.find(configMaps, "a"), undefined);
  const reason = "json parse error: invalid character 'o' looking for beginning of object key string";
  const text = `Failed to delete all resource types, 1 remaining: couldn't get version/kind; ${reason}`;
  assert.equal((await conditionsOf(cluster))[2], `NamespaceDeletionContentFailure True ContentDeletionFailed: ${text}`);
  await cluster.registry.storage.commit([], [{ key, value: null }]);
  clock.fire();
  await settle();
  assert.equal(await cluster.find(namespaces, "ns"), undefined);
  await controller.stop();
  await cluster.close();
});

test("waits for other finalizers of the namespace after its content is deleted", async () => {
  const { cluster } = await openCluster();
  const controller = namespaceController({ registry: cluster.registry, logger });
  controller.start();
  await cluster.change(namespaces, "ns", (object) => object.spec.finalizers.push("example.com/mine"), "finalize");
  await cluster.create(configMaps, { metadata: { name: "a" } });
  await cluster.delete(namespaces, "ns");
  await settle();
  assert.equal(await cluster.find(configMaps, "a"), undefined);
  assert.deepEqual((await cluster.find(namespaces, "ns"))?.spec.finalizers, ["example.com/mine"]);
  assert.equal(
    (await conditionsOf(cluster))[3],
    "NamespaceContentRemaining False ContentRemoved: All content successfully removed",
  );
  await controller.stop();
  await cluster.close();
});

test("rejects the deletion of the default namespace", async () => {
  const { cluster } = await openCluster();
  await cluster.create(namespaces, { metadata: { name: "default" } });
  await assert.rejects(
    cluster.delete(namespaces, "default"),
    /namespaces "default" is forbidden: this namespace may not be deleted/,
  );
  await cluster.close();
});
