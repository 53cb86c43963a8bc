/** Situations of Services, IPAddresses and node ports, what the repair does to them, and what it reports. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import {
  type MemoryRegistry,
  memoryOptions,
  openMemoryRegistry,
  type Place,
} from "../../../test/support/memory-registry.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ipAddressOf } from "../../apimachinery/service-addresses.ts";
import { PortBitmap } from "../../lib/ip-range/port-bitmap.ts";
import { putValue } from "../../registry/commit.ts";
import { encodeNodePorts, nodePortsKey, readNodePorts } from "../../registry/node-port-range.ts";
import type { Storage } from "../../storage/contract.ts";
import { openMemoryStorage } from "../../storage/memory.ts";
import { repairAllAddresses } from "./address-repair.ts";
import { addressRepair } from "./repair-addresses.ts";
import { repairNodePorts } from "./repair-ports.ts";

const services: Place = ["/services", "ns"];
const addresses: Place = ["networking.k8s.io/ipaddresses", ""];
const range = { first: 30000, last: 30031 };

interface Cluster {
  readonly clock: ManualClock;
  readonly storage: Storage;
  /** Does not allocate: it stores Services as they are. */
  readonly raw: MemoryRegistry;
}

async function open(): Promise<Cluster> {
  const clock = manualClock(Date.parse("2026-01-02T03:00:00Z"));
  const storage = await openMemoryStorage(memoryOptions(clock));
  const ranges = await openMemoryRegistry({
    clock,
    storage,
    services: { ranges: "10.0.0.0/24,fd00::/112", ports: range },
  });
  await ranges.close();
  const raw = await openMemoryRegistry({ clock, storage });
  await raw.create(["/namespaces", ""], { metadata: { name: "ns" } });
  return { clock, storage, raw };
}

async function close({ raw, storage }: Cluster): Promise<void> {
  await raw.close();
  await storage.close();
}

const createService = ({ raw }: Cluster, name: string, spec: Record<string, unknown>): Promise<KubeObject> =>
  raw.create(services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });

const withIp = (...clusterIPs: string[]): Record<string, unknown> => {
  const ipFamilies = clusterIPs.map((address) => (address.includes(":") ? "IPv6" : "IPv4"));
  const ipFamilyPolicy = clusterIPs.length === 2 ? "RequireDualStack" : "SingleStack";
  return { clusterIP: clusterIPs[0], clusterIPs, ipFamilies, ipFamilyPolicy };
};

async function createAddress(
  { raw }: Cluster,
  address: string,
  parentRef: Record<string, unknown>,
  labels = {},
): Promise<void> {
  const object = ipAddressOf(address, { namespace: "ns", name: "a" });
  Object.assign(object.spec.parentRef, parentRef);
  Object.assign(object.metadata.labels ?? {}, labels);
  await raw.create(addresses, object);
}

/** The IPAddresses as `address labels parent`. */
async function shown({ storage }: Cluster): Promise<string[]> {
  const { entries } = await storage.range("/registry/ipaddresses/");
  return entries.map(({ value }) => {
    const { metadata, spec } = JSON.parse(value.toString()) as KubeObject;
    const { group = "", resource, namespace = "", name } = spec.parentRef;
    return `${metadata.name} ${Object.values(metadata.labels ?? {}).join()} ${group}/${resource}/${namespace}/${name}`;
  });
}

const ours = (address: string, name = "a"): string =>
  `${address} ${address.includes(":") ? "IPv6" : "IPv4"},ipallocator.k8s.io /services/ns/${name}`;

interface Situation {
  readonly title: string;
  given(cluster: Cluster): Promise<unknown>;
  /** The IPAddresses afterwards. */
  readonly addresses: readonly string[];
  /** Of each Event: the name of its object, the reason and the note. */
  readonly reports: readonly string[];
}

const situations: Situation[] = [
  {
    title: "creates the IPAddresses of a Service of an older store",
    given: (cluster) => createService(cluster, "a", withIp("10.0.0.9", "fd00::9")),
    addresses: [ours("10.0.0.9"), ours("fd00::9")],
    reports: [
      "a ClusterIPNotAllocated Cluster IP [IPv4]: 10.0.0.9 is not allocated; repairing",
      "a ClusterIPNotAllocated Cluster IP [IPv6]: fd00::9 is not allocated; repairing",
    ],
  },
  {
    title: "leaves a Service alone whose IPAddress is right, and Services without addresses",
    async given(cluster) {
      await createService(cluster, "a", withIp("10.0.0.9"));
      await createAddress(cluster, "10.0.0.9", {});
      await createService(cluster, "headless", { ...withIp("None"), ipFamilies: ["IPv4"] });
      await createService(cluster, "external", { type: "ExternalName", externalName: "example.com" });
    },
    addresses: [ours("10.0.0.9")],
    reports: [],
  },
  {
    title: "replaces an IPAddress that refers to another kind",
    async given(cluster) {
      await createService(cluster, "a", withIp("10.0.0.9"));
      await createAddress(cluster, "10.0.0.9", { group: "gateway.networking.k8s.io", resource: "gateways" });
    },
    addresses: [ours("10.0.0.9")],
    reports: [
      "a ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.0.9 for Service ns/a has a wrong reference; repairing",
    ],
  },
  {
    title: "replaces an IPAddress that refers to a Service that does not exist",
    async given(cluster) {
      await createService(cluster, "a", withIp("10.0.0.9"));
      await createAddress(cluster, "10.0.0.9", { name: "gone" });
    },
    addresses: [ours("10.0.0.9")],
    reports: [
      "a ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.0.9 for Service ns/a has a wrong reference; repairing",
    ],
  },
  {
    title: "reports an address of two Services",
    async given(cluster) {
      await createService(cluster, "a", withIp("10.0.0.9"));
      await createService(cluster, "b", withIp("10.0.0.9"));
      await createAddress(cluster, "10.0.0.9", {});
    },
    addresses: [ours("10.0.0.9")],
    reports: [
      "b ClusterIPAlreadyAllocated Cluster IP [IPv4]:10.0.0.9 was assigned to multiple services; please recreate service",
    ],
  },
  {
    title: "reports an address outside of all ranges",
    given: (cluster) => createService(cluster, "a", withIp("10.9.0.9")),
    addresses: [],
    reports: [
      "a ClusterIPOutOfRange Cluster IP [IPv4]: 10.9.0.9 is not within any configured Service CIDR; please recreate service",
    ],
  },
  {
    title: "replaces an IPAddress with other labels",
    async given(cluster) {
      await createService(cluster, "a", withIp("10.0.0.9"));
      await createAddress(cluster, "10.0.0.9", {}, { "ipaddress.kubernetes.io/managed-by": "other" });
    },
    addresses: [ours("10.0.0.9")],
    reports: [],
  },
  {
    title: "keeps an IPAddress without a Service for a minute",
    async given(cluster) {
      await createAddress(cluster, "10.0.0.9", {});
      cluster.clock.advance(60_000);
    },
    addresses: [ours("10.0.0.9")],
    reports: [],
  },
  {
    title: "deletes an IPAddress without a Service after a minute",
    async given(cluster) {
      await createAddress(cluster, "10.0.0.9", {});
      cluster.clock.advance(61_000);
    },
    addresses: [],
    reports: [
      "10.0.0.9 IPAddressNotAllocated IPAddress: 10.0.0.9 for Service ns/a appears to have leaked: cleaning up",
    ],
  },
  {
    title: "deletes an IPAddress that was changed to refer to another kind",
    given: (cluster) => createAddress(cluster, "10.0.0.9", { resource: "gateways" }),
    addresses: [],
    reports: [
      "10.0.0.9 IPAddressNotAllocated IPAddress 10.0.0.9 appears to have been modified, not referencing a Service &ParentReference{Group:,Resource:gateways,Namespace:ns,Name:a,}: cleaning up",
    ],
  },
  {
    title: "deletes an IPAddress whose Service has another address",
    async given(cluster) {
      await createAddress(cluster, "10.0.0.9", {});
      cluster.clock.advance(1_000);
      await createService(cluster, "a", withIp("10.0.0.8"));
      await createAddress(cluster, "10.0.0.8", {});
    },
    addresses: [ours("10.0.0.8")],
    reports: [
      "10.0.0.9 IPAddressWrongReference IPAddress: 10.0.0.9 for Service ns/a has a wrong reference; cleaning up",
    ],
  },
  {
    title: "keeps a new IPAddress whose older Service has another address, because a write may be undone",
    async given(cluster) {
      await createService(cluster, "a", withIp("10.0.0.8"));
      await createAddress(cluster, "10.0.0.8", {});
      cluster.clock.advance(1_000);
      await createAddress(cluster, "10.0.0.9", {});
    },
    addresses: [ours("10.0.0.8"), ours("10.0.0.9")],
    reports: [],
  },
  {
    title: "leaves IPAddresses of other managers alone",
    async given(cluster) {
      await createAddress(cluster, "10.0.0.9", {}, { "ipaddress.kubernetes.io/managed-by": "other" });
      cluster.clock.advance(3_600_000);
    },
    addresses: ["10.0.0.9 IPv4,other /services/ns/a"],
    reports: [],
  },
];

for (const { title, given, addresses: expected, reports } of situations) {
  test(title, async () => {
    const cluster = await open();
    await given(cluster);
    const found: string[] = [];
    const repair = addressRepair(cluster.raw.registry, ({ metadata }, { reason, note }) =>
      found.push(`${metadata.name} ${reason} ${note}`),
    );
    await repairAllAddresses(repair);
    assert.deepEqual(found, reports);
    assert.deepEqual(await shown(cluster), expected);
    await close(cluster);
  });
}

test("a store of many Services is repaired, also when two have one address", async () => {
  const cluster = await open();
  for (let at = 1; at < 200; at++) await createService(cluster, `s${at}`, withIp(`10.0.0.${at}`));
  await createService(cluster, "twice", withIp("10.0.0.7"));
  const found: string[] = [];
  const repair = addressRepair(cluster.raw.registry, ({ metadata }, { reason }) =>
    found.push(`${metadata.name} ${reason}`),
  );
  await repairAllAddresses(repair);
  assert.equal((await shown(cluster)).length, 199);
  found.length = 0;
  await repairAllAddresses(repair);
  assert.equal(found.length, 1);
  assert.match(found[0] ?? "", /^(?:s7|twice) ClusterIPAlreadyAllocated$/);
  await close(cluster);
});

interface PortRun {
  readonly ports: readonly number[];
  readonly reports: readonly string[];
}

async function repairPorts({ raw, storage }: Cluster, leaks: Map<number, number>, of = range): Promise<PortRun> {
  const reports: string[] = [];
  await repairNodePorts({
    registry: raw.registry,
    range: of,
    leaks,
    report: ({ metadata }, { reason, note }) => reports.push(`${metadata.name} ${reason} ${note}`),
  });
  return { ports: [...((await readNodePorts({ storage }))?.ports ?? [])], reports };
}

async function storePorts({ raw }: Cluster, ports: readonly number[]): Promise<void> {
  const bitmap = new PortBitmap(range);
  for (const port of ports) bitmap.add(port);
  await putValue(raw.registry, { key: nodePortsKey, derive: () => encodeNodePorts(bitmap) });
}

const nodePort = (port: number, protocol = "TCP"): Record<string, unknown> => ({
  name: `p${port}${protocol.toLowerCase()}`,
  port: port - 29_000,
  nodePort: port,
  protocol,
});

test("the ports in use follow the Services, and problems are reported", async () => {
  const cluster = await open();
  await storePorts(cluster, [30001]);
  await createService(cluster, "a", {
    type: "NodePort",
    ports: [nodePort(30001), nodePort(30002), nodePort(30003), nodePort(30003, "UDP")],
  });
  await createService(cluster, "b", { type: "NodePort", ports: [nodePort(30002), nodePort(40000)] });
  assert.deepEqual(await repairPorts(cluster, new Map()), {
    ports: [30001, 30002, 30003],
    reports: [
      "a PortNotAllocated Port 30002 is not allocated; repairing",
      "a PortNotAllocated Port 30003 is not allocated; repairing",
      "b PortAlreadyAllocated Port 30002 was assigned to multiple services; please recreate service",
      "b PortOutOfRange Port 40000 is not within the port range 30000-30031; please recreate service",
    ],
  });
  await close(cluster);
});

test("a port that no Service has is released at the third repair", async () => {
  const cluster = await open();
  await storePorts(cluster, [30001]);
  const leaks = new Map<number, number>();
  const found: (readonly number[])[] = [];
  for (let run = 0; run < 3; run++) found.push((await repairPorts(cluster, leaks)).ports);
  assert.deepEqual(found, [[30001], [30001], []]);
  await close(cluster);
});

test("the range of the server that started last replaces the stored one", async () => {
  const cluster = await open();
  await createService(cluster, "a", { type: "NodePort", ports: [nodePort(30001)] });
  await repairPorts(cluster, new Map());
  const { ports, reports } = await repairPorts(cluster, new Map(), { first: 30001, last: 30040 });
  assert.deepEqual([ports, reports], [[30001], []]);
  const stored = await cluster.storage.get(nodePortsKey);
  assert.deepEqual(JSON.parse(stored?.value.toString() ?? ""), {
    kind: "RangeAllocation",
    apiVersion: "v1",
    metadata: {},
    range: "30001-30040",
    data: "AQ==",
  });
  await close(cluster);
});
