import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, gone, refTo, settled, withCluster } from "../../../test/support/collector-cluster.ts";
import type { Place } from "../../../test/support/memory-registry.ts";
import { eventually } from "../../../test/support/until.ts";
import type { MutableCatalog, ResourceDefinition, StorageForm } from "../../catalog/contract.ts";

const configMaps: Place = ["/configmaps", "ns"];
const secrets: Place = ["/secrets", "ns"];
const persistentVolumes: Place = ["/persistentvolumes", ""];
const things: Place = ["example.com/things", "ns"];
test("background deletion deletes dependents transitively", () =>
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

test("foreground deletion deletes the owner after the dependents that block it", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const block = { blockOwnerDeletion: true };
    await cluster.create(configMaps, {
      metadata: { name: "held", finalizers: ["example.com/x"], ownerReferences: [refTo(owner, block)] },
    });
    await cluster.create(configMaps, {
      metadata: { name: "free", finalizers: ["example.com/x"], ownerReferences: [refTo(owner)] },
    });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Foreground" });
    const isDeleting = async (name: string): Promise<boolean> =>
      (await cluster.find(configMaps, name))?.metadata.deletionTimestamp !== undefined;
    await eventually("held is deleted", () => isDeleting("held"));
    await eventually("free is deleted", () => isDeleting("free"));
    await settled(cluster);
    assert.deepEqual((await cluster.find(configMaps, "owner"))?.metadata.finalizers, ["foregroundDeletion"]);
    await cluster.change(configMaps, "held", ({ metadata }) => delete metadata.finalizers);
    await gone(cluster, configMaps, "owner");
    assert.notEqual(await cluster.find(configMaps, "free"), undefined);
  }));

test("foreground deletion deletes dependents in the foreground, also when references form a cycle", () =>
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

test("orphaning removes the reference from dependents", () =>
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

test("a dependent with a remaining owner is kept, without the references to deleted owners", () =>
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

test("deletes dependents of owners that do not exist or have another uid", () =>
  withCluster(async (cluster) => {
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.create(secrets, {
      metadata: { name: "absent", ownerReferences: [{ ...refTo(owner), name: "absent" }] },
    });
    await cluster.create(secrets, {
      metadata: { name: "older", ownerReferences: [{ ...refTo(owner), uid: "other" }] },
    });
    cluster.collector.start();
    await gone(cluster, secrets, "absent");
    await gone(cluster, secrets, "older");
    assert.notEqual(await cluster.find(configMaps, "owner"), undefined);
  }));

const unknown = { apiVersion: "example.com/v1", kind: "Thing", name: "t", uid: "t" };
const unserved = { apiVersion: "policy/v1beta1", kind: "PodDisruptionBudget", name: "t", uid: "t" };

for (const [what, reference] of [
  ["an unknown kind", unknown],
  ["a version that is not served", unserved],
] as const) {
  test(`keeps a dependent whose owner has ${what}`, () =>
    withCluster(async (cluster) => {
      cluster.collector.start();
      await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [reference] } });
      await settled(cluster);
      assert.notEqual(await cluster.find(secrets, "child"), undefined);
    }));
}

test("deletes a dependent of an owner in another namespace, and reports it in an Event", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const child = await cluster.create(["/secrets", "other"], {
      metadata: { name: "child", ownerReferences: [refTo(owner)] },
    });
    await gone(cluster, ["/secrets", "other"], "child");
    const [event] = await eventsOf(cluster);
    assert.equal(event?.reason, "OwnerRefInvalidNamespace");
    assert.equal(
      event?.message,
      `ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "other"`,
    );
    assert.deepEqual(event?.involvedObject, {
      kind: "Secret",
      namespace: "other",
      name: "child",
      uid: child.metadata.uid,
      apiVersion: "v1",
    });
  }));

test("a reference with a wrong kind does not suppress the Event of a later reference", () =>
  withCluster(async (cluster) => {
    const owner = await cluster.create(["/configmaps", "other"], { metadata: { name: "owner" } });
    const { collector, create } = cluster;
    collector.start();
    await create(["/secrets", "ns"], { metadata: { name: "a", ownerReferences: [refTo(owner, { kind: "Secret" })] } });
    await gone(cluster, ["/secrets", "ns"], "a");
    await create(["/secrets", "ns"], { metadata: { name: "b", ownerReferences: [refTo(owner)] } });
    await gone(cluster, ["/secrets", "ns"], "b");
    const reported = (await eventsOf(cluster)).map(({ involvedObject }) => involvedObject.name);
    assert.deepEqual(reported, ["b"]);
  }));

test("keeps a cluster-scoped object with a namespaced owner, and reports it in an Event", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
    await cluster.create(persistentVolumes, { metadata: { name: "pv", ownerReferences: [refTo(owner)] }, spec });
    await eventually("an event", async () => (await eventsOf(cluster)).length > 0);
    await cluster.delete(configMaps, "owner");
    await settled(cluster);
    assert.notEqual(await cluster.find(persistentVolumes, "pv"), undefined);
    assert.equal((await eventsOf(cluster))[0]?.metadata.namespace, "default");
  }));

test("a cluster-scoped owner can have dependents in every namespace", () =>
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

test("applies the propagation policy of the finalizers of a collected object", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    const child = await cluster.create(secrets, {
      metadata: { name: "child", finalizers: ["orphan"], ownerReferences: [refTo(owner)] },
    });
    await cluster.create(secrets, { metadata: { name: "grandchild", ownerReferences: [refTo(child)] } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Background" });
    await gone(cluster, secrets, "child");
    assert.equal((await cluster.find(secrets, "grandchild"))?.metadata.ownerReferences, undefined);
  }));

test("continues a foreground deletion after a restart", () =>
  withCluster(async (cluster) => {
    const block = { blockOwnerDeletion: true };
    const first = cluster.newCollector();
    first.start();
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.create(secrets, {
      metadata: { name: "held", finalizers: ["example.com/x"], ownerReferences: [refTo(owner, block)] },
    });
    await cluster.create(secrets, { metadata: { name: "later", ownerReferences: [refTo(owner, block)] } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Foreground" });
    await gone(cluster, secrets, "later");
    await first.stop();
    await cluster.change(secrets, "held", ({ metadata }) => delete metadata.finalizers);
    assert.notEqual(await cluster.find(configMaps, "owner"), undefined);
    cluster.collector.start();
    await gone(cluster, configMaps, "owner");
  }));

test("collects dependents of owners that were deleted while the collector was stopped", () =>
  withCluster(async (cluster) => {
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
    await cluster.delete(configMaps, "owner");
    cluster.collector.start();
    await gone(cluster, secrets, "child");
  }));

test("collects objects of kinds that are added later", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    const early = { apiVersion: "example.com/v1", kind: "Thing", name: "t", uid: "not-it" };
    await cluster.create(secrets, { metadata: { name: "early", ownerReferences: [early] } });
    await settled(cluster);
    assert.notEqual(await cluster.find(secrets, "early"), undefined);
    installThings(cluster.registry.catalog as MutableCatalog);
    const thing = await cluster.create(things, { metadata: { name: "t" } });
    await cluster.create(secrets, { metadata: { name: "of-thing", ownerReferences: [refTo(thing)] } });
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.create(things, { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Orphan" });
    await gone(cluster, configMaps, "owner");
    assert.equal((await cluster.find(things, "child"))?.metadata.ownerReferences, undefined);
    await cluster.delete(things, "t");
    await gone(cluster, secrets, "of-thing");
    await gone(cluster, secrets, "early");
  }));

test("collects dependents of an owner that was deleted before its kind was followed", () =>
  withCluster(async (cluster) => {
    cluster.collector.start();
    await settled(cluster);
    installThings(cluster.registry.catalog as MutableCatalog);
    const thing = await cluster.create(things, { metadata: { name: "t" } });
    await cluster.create(secrets, { metadata: { name: "of-thing", ownerReferences: [refTo(thing)] } });
    await settled(cluster);
    await cluster.delete(things, "t");
    await gone(cluster, secrets, "of-thing");
  }));

/** A custom kind with the types of a ConfigMap. */
function installThings(catalog: MutableCatalog): void {
  const model = catalog
    .definitions()
    .find(({ group, resource }) => group === "" && resource === "configmaps") as ResourceDefinition;
  const names = { group: "example.com", resource: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
  const storage = {
    ...(model.storage as StorageForm),
    group: "example.com",
    kind: "Thing",
    prefix: "/registry/example.com/things/",
  };
  catalog.add({ ...model, ...names, storage, custom: true });
}

for (const place of ["/replicationcontrollers", "batch/jobs"]) {
  test(`${place} orphan their dependents by default`, () =>
    withCluster(async (cluster) => {
      const template = {
        metadata: { labels: { a: "b" } },
        spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
      };
      if (place === "/replicationcontrollers") template.spec.restartPolicy = "Always";
      const owner = await cluster.create([place, "ns"], { metadata: { name: "owner" }, spec: { template } });
      await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
      await cluster.delete([place, "ns"], "owner");
      assert.deepEqual((await cluster.find([place, "ns"], "owner"))?.metadata.finalizers, ["orphan"]);
      cluster.collector.start();
      await gone(cluster, [place, "ns"], "owner");
      assert.equal((await cluster.find(secrets, "child"))?.metadata.ownerReferences, undefined);
    }));
}

const manyDependents = process.env.COXSWAIN_TEST_FULL === "1" ? 10_000 : 500;

for (const policy of ["Background", "Foreground", "Orphan"]) {
  test(`${manyDependents} dependents, ${policy}`, () =>
    withCluster(async (cluster) => {
      cluster.collector.start();
      const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
      const ownerReferences = [refTo(owner, { blockOwnerDeletion: true })];
      for (let at = 0; at < manyDependents; at += 100) {
        const names = Array.from({ length: 100 }, (_, index) => `dependent-${at + index}`);
        await Promise.all(names.map((name) => cluster.create(secrets, { metadata: { name, ownerReferences } })));
      }
      const started = performance.now();
      await cluster.delete(configMaps, "owner", { propagationPolicy: policy });
      const store = cluster.registry.catalog.findResource("", "secrets")?.store;
      await eventually("all is done", async () => {
        if ((await cluster.find(configMaps, "owner")) !== undefined) return false;
        return policy === "Orphan" || (await store?.cache.current())?.size === 0;
      });
      if (policy === "Orphan")
        assert.equal((await cluster.find(secrets, "dependent-7"))?.metadata.ownerReferences, undefined);
      if (process.env.COXSWAIN_TEST_FULL === "1")
        console.log(`${policy}: ${manyDependents} dependents in ${Math.round(performance.now() - started)} ms`);
    }));
}

test("while an object cannot be read, keeps its dependents, and does not complete orphaning", () =>
  withCluster(async (cluster) => {
    const { storage } = cluster.registry;
    const broken = "/registry/serviceaccounts/ns/broken";
    await storage.commit([], [{ key: broken, value: Buffer.from("{oops") }]);
    const accountRef = { apiVersion: "v1", kind: "ServiceAccount", name: "broken", uid: "broken" };
    await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [accountRef] } });
    await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Orphan" });
    const absentRef = { ...accountRef, name: "absent", uid: "absent" };
    await cluster.create(secrets, { metadata: { name: "other", ownerReferences: [absentRef] } });
    cluster.collector.start();
    await gone(cluster, secrets, "other");
    await settled(cluster);
    assert.notEqual(await cluster.find(secrets, "child"), undefined);
    assert.deepEqual((await cluster.find(configMaps, "owner"))?.metadata.finalizers, ["orphan"]);
    const warning = await eventually("the collector warns of an object", async () =>
      cluster.warned.find((fields) => "kind" in fields),
    );
    const { error: _error, others: _others, ...object } = warning as Record<string, unknown>;
    assert.ok(
      [
        { kind: "Secret", namespace: "ns", name: "child" },
        { kind: "ConfigMap", namespace: "ns", name: "owner" },
      ].some((one) => JSON.stringify(one) === JSON.stringify(object)),
      JSON.stringify(object),
    );
    await storage.commit([], [{ key: broken, value: null }]);
    await gone(cluster, secrets, "child");
    await gone(cluster, configMaps, "owner");
  }));
