import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, OwnerReference } from "../../api/object.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../testing/memory-registry.ts";
import type { Controller } from "../contract.ts";
import { garbageCollector } from "./garbage-collector.ts";

const namespaces: Place = ["/namespaces", ""];
const configMaps: Place = ["/configmaps", "ns"];
const secrets: Place = ["/secrets", "ns"];
const persistentVolumes: Place = ["/persistentvolumes", ""];
const logger = { info() {}, warn() {}, error() {} };

interface Cluster extends MemoryRegistry {
  readonly collector: Controller;
}

async function openCluster(): Promise<Cluster> {
  const cluster = await openMemoryRegistry();
  for (const name of ["ns", "other"]) await cluster.create(namespaces, { metadata: { name } });
  await cluster.create(namespaces, { metadata: { name: "default" } });
  const collector = garbageCollector({ registry: cluster.registry, logger });
  return { ...cluster, collector };
}

const refTo = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => {
  const { name = "", uid = "" } = owner.metadata;
  return { apiVersion: owner.apiVersion as string, kind: owner.kind as string, name, uid, ...more };
};

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const gone = (cluster: Cluster, place: Place, name: string): Promise<void> =>
  eventually(`${name} goes`, async () => (await cluster.find(place, name)) === undefined);

/** Everything that was put into the queue before has been looked at, as this object, made last, is collected last. */
async function settled(cluster: Cluster): Promise<void> {
  const name = `canary-${Math.random().toString(36).slice(2)}`;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "none" }];
  await cluster.create(["/configmaps", "other"], { metadata: { name, ownerReferences } });
  await gone(cluster, ["/configmaps", "other"], name);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

async function withCluster(run: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await openCluster();
  try {
    await run(cluster);
  } finally {
    await cluster.collector.stop();
    await cluster.close();
  }
}

test("in the background, dependents follow their owner, and theirs follow them", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const child = await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
    await cluster.create(configMaps, { metadata: { name: "grandchild", ownerReferences: [refTo(child)] } });
    await settled(cluster);
    assert.notEqual(await cluster.find(configMaps, "grandchild"), undefined);
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Background" });
    await gone(cluster, secrets, "child");
    await gone(cluster, configMaps, "grandchild");
  }));

test("in the foreground, the owner goes after those that block it", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const block = { blockOwnerDeletion: true };
    await cluster.create(configMaps, { metadata: { name: "held", finalizers: ["example.com/x"], ownerReferences: [refTo(owner, block)] } });
    await cluster.create(configMaps, { metadata: { name: "free", finalizers: ["example.com/x"], ownerReferences: [refTo(owner)] } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Foreground" });
    const isDeleting = async (name: string): Promise<boolean> => (await cluster.find(configMaps, name))?.metadata.deletionTimestamp !== undefined;
    await eventually("held is deleted", () => isDeleting("held"));
    await eventually("free is deleted", () => isDeleting("free"));
    await settled(cluster);
    assert.deepEqual((await cluster.find(configMaps, "owner"))?.metadata.finalizers, ["foregroundDeletion"]);
    await cluster.change(configMaps, "held", ({ metadata }) => delete metadata.finalizers);
    await gone(cluster, configMaps, "owner");
    assert.notEqual(await cluster.find(configMaps, "free"), undefined);
  }));

test("in the foreground, dependents with dependents go in the foreground too, in a circle as well", () =>
  withCluster(async (cluster) => {
    const block = { blockOwnerDeletion: true };
    const a = await cluster.create(configMaps, { metadata: { name: "a" } });
    const b = await cluster.create(configMaps, { metadata: { name: "b", ownerReferences: [refTo(a, block)] } });
    const c = await cluster.create(configMaps, { metadata: { name: "c", ownerReferences: [refTo(b, block)] } });
    await cluster.change(configMaps, "a", ({ metadata }) => {
      metadata.ownerReferences = [refTo(c, block), refTo(a, block)];
    });
    cluster.collector.start();
    await settled(cluster);
    await cluster.delete(configMaps, "a", { propagationPolicy: "Foreground" });
    for (const name of ["a", "b", "c"]) await gone(cluster, configMaps, name);
  }));

test("orphans lose the reference and stay", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const second = await cluster.create(configMaps, { metadata: { name: "second" } });
    await cluster.create(secrets, { metadata: { name: "one", ownerReferences: [refTo(owner)] } });
    await cluster.create(secrets, { metadata: { name: "two", ownerReferences: [refTo(owner), refTo(second)] } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Orphan" });
    await gone(cluster, configMaps, "owner");
    assert.equal((await cluster.find(secrets, "one"))?.metadata.ownerReferences, undefined);
    assert.deepEqual((await cluster.find(secrets, "two"))?.metadata.ownerReferences, [refTo(second)]);
  }));

test("one owner that stays keeps the dependent, which loses the others", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const second = await cluster.create(configMaps, { metadata: { name: "second" } });
    const ownerReferences = [refTo(owner, { blockOwnerDeletion: true }), refTo(second)];
    await cluster.create(secrets, { metadata: { name: "child", ownerReferences } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Foreground" });
    await gone(cluster, configMaps, "owner");
    assert.deepEqual((await cluster.find(secrets, "child"))?.metadata.ownerReferences, [refTo(second)]);
  }));

test("who never existed, has another uid or was replaced owns nothing", () =>
  withCluster(async (cluster) => {
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.create(secrets, { metadata: { name: "absent", ownerReferences: [{ ...refTo(owner), name: "absent" }] } });
    await cluster.create(secrets, { metadata: { name: "older", ownerReferences: [{ ...refTo(owner), uid: "other" }] } });
    cluster.collector.start();
    await gone(cluster, secrets, "absent");
    await gone(cluster, secrets, "older");
    assert.notEqual(await cluster.find(configMaps, "owner"), undefined);
  }));

const unknown = { apiVersion: "example.com/v1", kind: "Thing", name: "t", uid: "t" };
const unserved = { apiVersion: "policy/v1beta1", kind: "PodDisruptionBudget", name: "t", uid: "t" };

for (const [what, reference] of [
  ["a kind nobody knows", unknown],
  ["a version that is not served", unserved],
] as const) {
  test(`an owner of ${what} counts as there`, () =>
    withCluster(async (cluster) => {
      cluster.collector.start();
      await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [reference] } });
      await settled(cluster);
      assert.notEqual(await cluster.find(secrets, "child"), undefined);
    }));
}

test("an owner in another namespace is none, which an Event tells", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const child = await cluster.create(["/secrets", "other"], { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
    await gone(cluster, ["/secrets", "other"], "child");
    const [event] = await events(cluster);
    assert.equal(event?.reason, "OwnerRefInvalidNamespace");
    assert.equal(
      event?.message,
      `ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "other"`,
    );
    assert.deepEqual(event?.involvedObject, { kind: "Secret", namespace: "other", name: "child", uid: child.metadata.uid, apiVersion: "v1" });
  }));

test("a cluster-wide object that names an owner in a namespace stays, which an Event tells", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
    await cluster.create(persistentVolumes, { metadata: { name: "pv", ownerReferences: [refTo(owner)] }, spec });
    await eventually("an event", async () => (await events(cluster)).length > 0);
    await cluster.delete(configMaps, "owner");
    await settled(cluster);
    assert.notEqual(await cluster.find(persistentVolumes, "pv"), undefined);
    assert.equal((await events(cluster))[0]?.metadata.namespace, "default");
  }));

test("an owner of the cluster may own in every namespace", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
    const owner = await cluster.create(persistentVolumes, { metadata: { name: "pv" }, spec });
    await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
    await settled(cluster);
    assert.notEqual(await cluster.find(secrets, "child"), undefined);
    await cluster.delete(persistentVolumes, "pv");
    await gone(cluster, secrets, "child");
  }));

async function events({ registry }: Cluster): Promise<KubeObject[]> {
  const store = registry.catalog.findResource("", "events")?.store;
  if (store === undefined) return [];
  return [...(await store.cache.current()).range(store.form.prefix)].map((entry) => store.decode(entry));
}
