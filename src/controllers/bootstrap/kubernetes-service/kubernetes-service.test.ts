import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type ManualClock, manualClock } from "../../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../../test/support/memory-registry.ts";
import { passTurns } from "../../../../test/support/pass-turns.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { ensureObject } from "../ensure-object.ts";
import type { EndpointReconcilerType } from "./contract.ts";
import { kubernetesServiceController } from "./controller.ts";
import { endpointReconciler } from "./reconcilers.ts";
import { kubernetesService } from "./service.ts";

const endpointsPlace = ["/endpoints", "default"] as const;
const slicePlace = ["discovery.k8s.io/endpointslices", "default"] as const;
const servicePlace = ["/services", "default"] as const;
const name = "kubernetes";
const port = 6443;
const ports = [{ name: "https", port, protocol: "TCP" }];
const skipMirror = { "endpointslice.kubernetes.io/skip-mirror": "true" };

let clock: ManualClock;
let cluster: MemoryRegistry;
let errors: string[];

beforeEach(async () => {
  clock = manualClock(Date.parse("2026-01-02T03:04:05Z"));
  cluster = await openMemoryRegistry({ clock });
  errors = [];
  await cluster.create(["/namespaces", ""], { metadata: { name: "default" } });
});
afterEach(() => cluster.close());

interface Started {
  /** As the end of the process. */
  kill(): void;
  stop(): Promise<void>;
}

interface ServerOptions {
  readonly type?: EndpointReconcilerType;
  readonly count?: number;
  readonly nodePort?: number;
  readonly isShared?: boolean;
}

async function start(
  ip: string | undefined,
  { type = "lease", count = 1, nodePort = 0, isShared = true }: ServerOptions = {},
) {
  const { registry } = cluster;
  let isKilled = false;
  const own = {
    now: clock.now,
    after: (ms: number, run: () => void) => clock.after(ms, () => isKilled || run()),
  };
  const options = { port, serviceClusterIpRange: "10.0.0.0/24", kubernetesServiceNodePort: nodePort };
  const controller = kubernetesServiceController({
    reconciler: endpointReconciler(registry, { endpointReconciler: type, apiserverCount: count, ip, port, isShared }),
    ensureService: async () => void (await ensureObject(registry, kubernetesService(options))),
    storage: registry.storage,
    clock: own,
    logger: { info() {}, warn() {}, error: (_message, values) => void errors.push(String(values?.error)) },
  });
  await controller.start();
  const kill = (): void => {
    isKilled = true;
  };
  return { kill, stop: controller.stop } satisfies Started;
}

async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed++) {
    clock.advance(1000);
    await passTurns(30);
  }
}

const change = (place: readonly [string, string], run: (object: KubeObject) => unknown): Promise<void> =>
  cluster.change(place, name, (object) => void run(object));
const endpoints = async (): Promise<KubeObject> => (await cluster.find(endpointsPlace, name)) as KubeObject;
const ips = async (): Promise<string[]> =>
  ((await endpoints())?.subsets?.[0]?.addresses ?? []).map(({ ip }: { ip: string }) => ip);
const sliceIps = async (): Promise<string[]> =>
  ((await cluster.find(slicePlace, name))?.endpoints ?? []).flatMap(
    ({ addresses }: { addresses: string[] }) => addresses,
  );
const leaseKeys = async (): Promise<string[]> =>
  (await cluster.registry.storage.range("/registry/masterleases/")).entries.map(({ key }) => key);

test("the first server creates the Service and its endpoints", async () => {
  const server = await start("192.0.2.1");
  const { metadata, subsets } = await endpoints();
  assert.deepEqual([metadata.labels, subsets], [skipMirror, [{ addresses: [{ ip: "192.0.2.1" }], ports }]]);
  const slice = (await cluster.find(slicePlace, name)) as KubeObject;
  assert.deepEqual(slice.metadata.labels, { "kubernetes.io/service-name": "kubernetes" });
  assert.equal(slice.addressType, "IPv4");
  assert.deepEqual(slice.endpoints, [{ addresses: ["192.0.2.1"], conditions: { ready: true } }]);
  assert.deepEqual(slice.ports, ports);
  const { spec } = (await cluster.find(servicePlace, name)) as KubeObject;
  assert.deepEqual([spec.type, spec.ipFamilyPolicy, spec.clusterIP], ["ClusterIP", "SingleStack", "10.0.0.1"]);
  assert.deepEqual(spec.ports, [{ name: "https", protocol: "TCP", port: 443, targetPort: port }]);
  await server.stop();
});

test("a lease is an Endpoints object with the address, renewed every 10 seconds", async () => {
  const server = await start("192.0.2.1");
  const read = async (): Promise<unknown> => {
    const [stored] = (await cluster.registry.storage.range("/registry/masterleases/")).entries;
    return JSON.parse(String(stored?.value));
  };
  const value = (generation: number): object => ({
    kind: "Endpoints",
    apiVersion: "v1",
    metadata: { generation },
    subsets: [{ addresses: [{ ip: "192.0.2.1" }] }],
  });
  assert.deepEqual(await leaseKeys(), ["/registry/masterleases/192.0.2.1"]);
  assert.deepEqual(await read(), value(1));
  await pass(30);
  assert.deepEqual(await read(), value(4));
  await server.stop();
});

test("the endpoints are the servers that run", async () => {
  const first = await start("192.0.2.2");
  const second = await start("192.0.2.1");
  const third = await start("192.0.2.3");
  const all = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  assert.deepEqual([await ips(), await sliceIps()], [all, all]);
  await first.stop();
  assert.deepEqual(
    [await ips(), await sliceIps()],
    [
      ["192.0.2.1", "192.0.2.3"],
      ["192.0.2.1", "192.0.2.3"],
    ],
  );
  third.kill();
  await pass(26);
  assert.deepEqual([await ips(), await sliceIps()], [["192.0.2.1"], ["192.0.2.1"]]);
  await second.stop();
  assert.deepEqual([await ips(), await sliceIps(), await leaseKeys()], [[], [], []]);
  assert.deepEqual(errors, []);
});

test("a server that was killed and starts again is not an endpoint until it is ready", async () => {
  const other = await start("192.0.2.1");
  const killed = await start("192.0.2.2");
  killed.kill();
  const reconciler = endpointReconciler(cluster.registry, {
    endpointReconciler: "lease",
    apiserverCount: 1,
    ip: "192.0.2.2",
    port,
    isShared: true,
  });
  assert.equal(await reconciler.remove(false), true);
  assert.deepEqual(await ips(), ["192.0.2.1"]);
  await other.stop();
});

test("the only server does not erase the endpoints that its killed predecessor left behind", async () => {
  (await start("192.0.2.1")).kill();
  const server = await start("192.0.2.1");
  assert.match(errors.join(), /refusing to erase all endpoints for the kubernetes Service/);
  assert.deepEqual(await ips(), ["192.0.2.1"]);
  await server.stop();
});

test("the only server of a store is its endpoint, and writes nothing while that is so", async () => {
  (await start("192.0.2.1", { isShared: false })).kill();
  const server = await start("192.0.2.2", { isShared: false });
  assert.deepEqual([await ips(), await sliceIps(), await leaseKeys(), errors], [["192.0.2.2"], ["192.0.2.2"], [], []]);
  const { storage } = cluster.registry;
  const revision = await storage.current();
  await pass(60);
  assert.equal(await storage.current(), revision);
  await server.stop();
  assert.deepEqual(await ips(), []);
});

const damages: [what: string, damage: () => Promise<void>][] = [
  ["the Service is deleted", () => cluster.delete(servicePlace, name)],
  ["the Endpoints are deleted", () => cluster.delete(endpointsPlace, name)],
  ["the EndpointSlice is deleted", () => cluster.delete(slicePlace, name)],
  [
    "a client changes the addresses",
    () => change(endpointsPlace, ({ subsets }) => Object.assign(subsets[0], { addresses: [{ ip: "203.0.113.9" }] })),
  ],
  [
    "a client adds a subset",
    () =>
      cluster.change(endpointsPlace, name, (object) => {
        object.subsets.push({ addresses: [{ ip: "203.0.113.9" }], ports: [{ port: 1, protocol: "TCP" }] });
      }),
  ],
  [
    "a client removes the labels",
    async () => {
      await cluster.change(endpointsPlace, name, (object) => void delete object.metadata.labels);
      await change(slicePlace, ({ metadata }) => Object.assign(metadata, { labels: { a: "b" } }));
    },
  ],
  [
    "a client changes the slice",
    () => change(slicePlace, (object) => Object.assign(object, { endpoints: [{ addresses: ["203.0.113.9"] }] })),
  ],
];
for (const [what, damage] of damages) {
  test(`${what}: the next interval corrects it`, async () => {
    const server = await start("192.0.2.1");
    await damage();
    await pass(10);
    const { metadata, subsets } = await endpoints();
    assert.deepEqual([metadata.labels, subsets], [skipMirror, [{ addresses: [{ ip: "192.0.2.1" }], ports }]]);
    assert.deepEqual(await sliceIps(), ["192.0.2.1"]);
    const { labels } = (await cluster.find(slicePlace, name))?.metadata ?? {};
    assert.deepEqual(labels, { "kubernetes.io/service-name": "kubernetes" });
    assert.ok((await cluster.find(servicePlace, name)) !== undefined);
    await server.stop();
  });
}

test("existing ports, as those of the Service, are not corrected", async () => {
  const server = await start("192.0.2.1");
  const others = [{ name: "x", port: 1, protocol: "TCP" }];
  await change(endpointsPlace, ({ subsets }) => Object.assign(subsets[0], { ports: others }));
  await change(servicePlace, ({ spec }) => Object.assign(spec.ports[0], { targetPort: 1 }));
  await pass(20);
  assert.deepEqual((await endpoints()).subsets[0].ports, others);
  assert.equal((await cluster.find(servicePlace, name))?.spec.ports[0].targetPort, 1);
  await server.stop();
});

test("the slice of servers with IPv6 addresses is replaced by one of that type", async () => {
  const first = await start("192.0.2.1");
  await first.stop();
  const second = await start("2001:db8::1");
  const slice = (await cluster.find(slicePlace, name)) as KubeObject;
  assert.deepEqual([slice.addressType, await sliceIps()], ["IPv6", ["2001:db8::1"]]);
  await second.stop();
});

test("an unchanged state is not written, except for the lease", async () => {
  const server = await start("192.0.2.1");
  const before = await cluster.registry.storage.current();
  await pass(10);
  assert.equal(await cluster.registry.storage.current(), before + 1);
  await server.stop();
});

test("with a node port the Service has the type NodePort", async () => {
  const server = await start("192.0.2.1", { nodePort: 30_443 });
  const { spec } = (await cluster.find(servicePlace, name)) as KubeObject;
  assert.deepEqual([spec.type, spec.ports[0].nodePort], ["NodePort", 30_443]);
  await server.stop();
});

test("without reconciler, or without an address, there are no endpoints, but the Service", async () => {
  const none = await start("192.0.2.1", { type: "none" });
  const unreachable = await start(undefined);
  assert.equal(await cluster.find(endpointsPlace, name), undefined);
  assert.ok((await cluster.find(servicePlace, name)) !== undefined);
  await none.stop();
  await unreachable.stop();
});

test("master-count: the endpoints are at most as many as there are servers", async () => {
  const options = { type: "master-count", count: 2 } as const;
  const first = await start("192.0.2.1", options);
  const second = await start("192.0.2.3", options);
  assert.deepEqual(await ips(), ["192.0.2.1", "192.0.2.3"]);
  const third = await start("192.0.2.2", options); // Replaces the second, the next after it.
  assert.deepEqual(await ips(), ["192.0.2.1", "192.0.2.2"]);
  second.kill();
  await third.stop();
  assert.deepEqual(await ips(), ["192.0.2.1"]);
  assert.deepEqual(await leaseKeys(), []);
  await first.stop();
  assert.deepEqual(await ips(), []);
});
