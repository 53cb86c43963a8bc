import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, eventually, gone, refTo, settled, withCluster } from "../../../test/support/collector-cluster.ts";
import type { Place } from "../../../test/support/memory-registry.ts";
import type { MutableCatalog, ResourceDefinition, StorageForm } from "../../catalog/contract.ts";

const configMaps: Place = ["/configmaps", "ns"];
const secrets: Place = ["/secrets", "ns"];
const persistentVolumes: Place = ["/persistentvolumes", ""];
const things: Place = ["example.com/things", "ns"];
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

test("who named an owner by another kind does not keep others from being told of it", () =>
  withCluster(async (cluster) => {
    const owner = await cluster.create(["/configmaps", "other"], { metadata: { name: "owner" } });
    const { collector, create } = cluster;
    collector.start();
    await create(["/secrets", "ns"], { metadata: { name: "a", ownerReferences: [refTo(owner, { kind: "Secret" })] } });
    await gone(cluster, ["/secrets", "ns"], "a");
    await create(["/secrets", "ns"], { metadata: { name: "b", ownerReferences: [refTo(owner)] } });
    await gone(cluster, ["/secrets", "ns"], "b");
    const told = (await eventsOf(cluster)).map(({ involvedObject }) => involvedObject.name);
    assert.deepEqual(told, ["b"]);
  }));

test("a cluster-wide object that names an owner in a namespace stays, which an Event tells", () =>
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

test("finalizers that say what is to become of dependents are kept when the object is collected", () =>
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

test("a deletion in the foreground is gone on with after a restart", () =>
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

test("what was deleted while nobody looked is collected after a restart", () =>
  withCluster(async (cluster) => {
    const owner = await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [refTo(owner)] } });
    await cluster.delete(configMaps, "owner");
    cluster.collector.start();
    await gone(cluster, secrets, "child");
  }));

test("kinds that come later own and are owned", () =>
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

test("an owner that went before its kind was followed is missed by nobody", () =>
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
  test(`${place} orphan what is theirs unless they are told otherwise`, () =>
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

test("as long as a kind cannot be read, its objects count as there, and nobody's dependents are let go", () =>
  withCluster(async (cluster) => {
    const { storage } = cluster.registry;
    const broken = "/registry/serviceaccounts/ns/broken";
    await storage.commit([], [{ key: broken, value: Buffer.from("{oops") }]);
    const accountRef = { apiVersion: "v1", kind: "ServiceAccount", name: "absent", uid: "absent" };
    await cluster.create(secrets, { metadata: { name: "child", ownerReferences: [accountRef] } });
    await cluster.create(configMaps, { metadata: { name: "owner" } });
    await cluster.delete(configMaps, "owner", { propagationPolicy: "Orphan" });
    cluster.collector.start();
    await settled(cluster);
    assert.notEqual(await cluster.find(secrets, "child"), undefined);
    assert.deepEqual((await cluster.find(configMaps, "owner"))?.metadata.finalizers, ["orphan"]);
    await storage.commit([], [{ key: broken, value: null }]);
    await gone(cluster, secrets, "child");
    await gone(cluster, configMaps, "owner");
  }));
