/** A memory registry with a garbage collector, for tests of the collector. */
import type { KubeObject, OwnerReference } from "../../src/apimachinery/object.ts";
import type { Controller } from "../../src/controllers/contract.ts";
import { garbageCollector } from "../../src/controllers/garbage-collector/garbage-collector.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "./memory-registry.ts";
import { passTurns } from "./pass-turns.ts";
import { eventually } from "./until.ts";

const namespaces: Place = ["/namespaces", ""];
export interface Cluster extends MemoryRegistry {
  /** The fields of what collectors have warned about. */
  readonly warned: object[];
  /** The collector, not started. */
  readonly collector: Controller;
  /** Creates another collector, as after a restart; the caller stops it. */
  newCollector(): Controller;
}

async function openCluster(): Promise<Cluster> {
  const cluster = await openMemoryRegistry({ featureGates: "AllowUnsafeMalformedObjectDeletion=true" });
  for (const name of ["ns", "other"]) await cluster.create(namespaces, { metadata: { name } });
  await cluster.create(namespaces, { metadata: { name: "default" } });
  const warned: object[] = [];
  const logger = { info() {}, warn: (_message: string, fields = {}) => void warned.push(fields), error() {} };
  const newCollector = (): Controller => garbageCollector({ registry: cluster.registry, logger });
  return { ...cluster, warned, collector: newCollector(), newCollector };
}

export const refTo = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => {
  const { name = "", uid = "" } = owner.metadata;
  return { apiVersion: owner.apiVersion as string, kind: owner.kind as string, name, uid, ...more };
};

export const gone = (cluster: Cluster, place: Place, name: string): Promise<true> =>
  eventually(`${name} goes`, async () => (await cluster.find(place, name)) === undefined);

/** Waits until the queue is empty, by creating an object that is collected last. */
export async function settled(cluster: Cluster): Promise<void> {
  const name = `canary-${Math.random().toString(36).slice(2)}`;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "none" }];
  await cluster.create(["/configmaps", "other"], { metadata: { name, ownerReferences } });
  await gone(cluster, ["/configmaps", "other"], name);
  await passTurns(20);
}

export async function withCluster(run: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await openCluster();
  try {
    await run(cluster);
  } finally {
    await cluster.collector.stop();
    await cluster.close();
  }
}

export async function eventsOf({ registry }: Cluster): Promise<KubeObject[]> {
  const store = registry.catalog.findResource("", "events")?.store;
  if (store === undefined) return [];
  return [...(await store.cache.current()).range(store.form.prefix)].map((entry) => store.decode(entry));
}
