/**
 * Guarantees: concurrent writes never exceed a quota; the usage is that of the writes that were
 * stored; a write that fails is not charged; the charge has the revision of the write; writes that no
 * quota concerns are decided at once.
 */
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../../../test/support/memory-registry.ts";
import { seed } from "../../../../test/support/seed.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";
import { systemClock } from "../../../apimachinery/clock.ts";
import { parseFeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { resourceQuota } from "./resource-quota.ts";

const { gates } = parseFeatureGates("");
const [maps, pods, quotas] = [
  ["/configmaps", "n"],
  ["/pods", "n"],
  ["/resourcequotas", "n"],
] as const;
let cluster: MemoryRegistry;
let plugin: AdmissionPlugin;
/** What the plugin after ResourceQuota waits for. */
let held: Promise<void> | undefined;

beforeEach(async () => {
  await cluster?.close();
  cluster = await openMemoryRegistry({
    plugins(catalog) {
      plugin = resourceQuota({ catalog, clock: systemClock, gates });
      return [plugin, { name: "Waiting", validate: () => held }];
    },
  });
  await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
});
after(() => cluster.close());

type Amounts = Readonly<Record<string, string>>;

async function createQuota(name: string, hard: Amounts): Promise<void> {
  await cluster.create(quotas, { metadata: { name }, spec: { hard } });
  const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"]));
  const setStatus = (quota: KubeObject): void => {
    quota.status = { hard, used };
  };
  await cluster.change(quotas, name, setStatus, "status");
}

const usedBy = async (name: string): Promise<Amounts> => (await cluster.find(quotas, name))?.status.used;
const map = (name: string): KubeObject => ({ metadata: { name } });

/** @returns how many writes were stored and how many were rejected, by message */
async function outcomes(writes: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const result of await Promise.allSettled(writes)) {
    const what = result.status === "fulfilled" ? "stored" : (result.reason as Error).message.replace(/"[^"]*"/, "X");
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

test("200 concurrent creates store as many objects as the quota allows", async () => {
  await createQuota("q", { configmaps: "120", "count/configmaps": "500" });
  const writes = Array.from({ length: 200 }, (_none, index) => cluster.create(maps, map(`m${index}`)));
  assert.deepEqual(await outcomes(writes), {
    stored: 120,
    "configmaps X is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=120, limited: configmaps=120": 80,
  });
  assert.deepEqual(await usedBy("q"), { configmaps: "120", "count/configmaps": "120" });
});

test("a write that another one overtakes is not charged", async () => {
  await createQuota("q", { configmaps: "100" });
  const stored = await outcomes(
    Array.from({ length: 30 }, (_none, index) => cluster.create(maps, map(`m${index % 5}`))),
  );
  assert.deepEqual(stored, { stored: 5, "configmaps X already exists": 25 });
  assert.deepEqual(await usedBy("q"), { configmaps: "5" });
});

test("the charge has the revision of the write, and quotas that it does not concern keep theirs", async () => {
  await createQuota("a", { configmaps: "5" });
  await createQuota("b", { secrets: "5" });
  const before = await cluster.find(quotas, "b");
  const { metadata } = await cluster.create(maps, map("m"));
  const [a, b] = [await cluster.find(quotas, "a"), await cluster.find(quotas, "b")];
  assert.equal(a?.metadata.resourceVersion, metadata.resourceVersion);
  assert.deepEqual(b, before);
});

test("a quota that changes between admission and commit is checked with its new limits", async () => {
  await createQuota("q", { configmaps: "5" });
  await cluster.create(maps, map("first"));
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  const created = outcomes([cluster.create(maps, map("m"))]);
  await new Promise(setImmediate);
  held = undefined;
  const lower = (quota: KubeObject): void => {
    quota.status = { hard: { configmaps: "1" }, used: { configmaps: "1" } };
  };
  await cluster.change(quotas, "q", lower, "status");
  resolve();
  assert.deepEqual(await created, {
    "configmaps X is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1": 1,
  });
  assert.deepEqual([await usedBy("q"), await cluster.find(maps, "m")], [{ configmaps: "1" }, undefined]);
});

test("rejects a write that more than 100 quotas count, and stores nothing", async () => {
  for (let index = 0; index < 101; index++) await createQuota(`q${index}`, { configmaps: "5" });
  await assert.rejects(cluster.create(maps, map("m")), {
    message: 'configmaps "m" is forbidden: 101 quotas of the namespace count it, but a write can be charged to 100',
  });
  await cluster.delete(quotas, "q0");
  await cluster.create(maps, map("m"));
  assert.deepEqual(await usedBy("q100"), { configmaps: "1" });
});

test("dry runs are checked and not charged", async () => {
  await createQuota("q", { configmaps: "1" });
  await cluster.create(maps, map("dry"), true);
  assert.deepEqual(await usedBy("q"), { configmaps: "0" });
  await cluster.create(maps, map("m"));
  await assert.rejects(cluster.create(maps, map("dry"), true), /exceeded quota: q/);
});

test(`random concurrent writes never exceed three quotas, and usage equals what is stored (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  await createQuota("pods", { pods: "40" });
  await createQuota("cpu", { "requests.cpu": "9", "limits.memory": "20Gi" });
  await createQuota("objects", { configmaps: "25", "count/pods": "60" });
  const write = (index: number): Promise<unknown> => {
    if (random(3) === 0) return cluster.create(maps, map(`m${random(60)}`), random(5) === 0);
    const resources = {
      requests: { cpu: `${50 * (1 + random(10))}m`, memory: "1Mi" },
      limits: { cpu: "1", memory: `${128 * (1 + random(8))}Mi` },
    };
    const pod = { metadata: { name: `p${index}` }, spec: { containers: [{ name: "a", image: "i", resources }] } };
    return cluster.create(pods, pod, random(5) === 0);
  };
  for (let round = 0; round < 4; round++) {
    await outcomes(Array.from({ length: 50 }, (_none, index) => write(round * 50 + index)));
    await checkUsage();
  }
});

async function checkUsage(): Promise<void> {
  let [cpu, memory, podCount, mapCount] = [0, 0, 0, 0];
  for (const name of Array.from({ length: 200 }, (_none, index) => `p${index}`)) {
    const resources = (await cluster.find(pods, name))?.spec.containers[0].resources;
    if (resources === undefined) continue;
    podCount++;
    cpu += Number.parseInt(
      resources.requests.cpu.endsWith("m") ? resources.requests.cpu : `${resources.requests.cpu}000`,
      10,
    );
    memory += resources.limits.memory.endsWith("Gi") ? 1024 : Number.parseInt(resources.limits.memory, 10);
  }
  for (let index = 0; index < 60; index++) mapCount += (await cluster.find(maps, `m${index}`)) === undefined ? 0 : 1;
  assert.ok(podCount <= 40 && cpu <= 9000 && memory <= 20 * 1024 && mapCount <= 25);
  const [byPods, byCpu, byObjects] = [await usedBy("pods"), await usedBy("cpu"), await usedBy("objects")];
  const used = byCpu["requests.cpu"] ?? "";
  assert.equal(Number(used.endsWith("m") ? used.slice(0, -1) : `${used}000`), cpu);
  const limit = byCpu["limits.memory"] ?? "";
  assert.equal(Number.parseInt(limit, 10) * (limit.endsWith("Gi") ? 1024 : 1), memory);
  assert.deepEqual(
    [byPods, byObjects],
    [{ pods: String(podCount) }, { configmaps: String(mapCount), "count/pods": String(podCount) }],
  );
}

test("writes that no quota concerns are not charged, and wait only in a namespace with quotas", async () => {
  await createQuota("q", { pods: "1" });
  await cluster.create(maps, map("m"));
  const { catalog } = cluster.registry;
  const attributesOf = (namespace: string, resource: string) =>
    ({
      operation: "CREATE",
      target: { resource: catalog.findResource("", resource) },
      subresource: "",
      namespace,
      object: map("x"),
      done: [],
      joint: [],
    }) as unknown as Parameters<NonNullable<AdmissionPlugin["validate"]>>[0];
  for (const [namespace, resource, waits] of [
    ["other", "configmaps", false],
    ["n", "configmaps", true],
    ["n", "events", true],
    ["", "nodes", false],
  ] as const) {
    const attributes = attributesOf(namespace, resource);
    const pending = plugin.validate?.(attributes);
    assert.equal(pending !== undefined, waits);
    await pending;
    assert.deepEqual(attributes.joint, []);
  }
});
