/** ServiceCIDRs with the controller, on a memory registry with a manual clock. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ipAddressOf, serviceCidrFinalizer } from "../../apimachinery/service-addresses.ts";
import type { Controller } from "../contract.ts";
import { serviceCidrController } from "./service-cidrs.ts";

const cidrs: Place = ["networking.k8s.io/servicecidrs", ""];
const addresses: Place = ["networking.k8s.io/ipaddresses", ""];
const services: Place = ["/services", "ns"];

interface Cluster extends MemoryRegistry {
  readonly clock: ManualClock;
  readonly controller: Controller;
}

async function open(): Promise<Cluster> {
  const clock = manualClock(Date.parse("2026-01-02T03:00:00Z"));
  const cluster = await openMemoryRegistry({ clock, services: { ranges: "10.0.0.0/24" } });
  const fail = (message: string, values?: Record<string, unknown>): void =>
    assert.fail(`${message} ${JSON.stringify(values)}`);
  const logger: Logger = { info() {}, warn: fail, error: fail };
  const controller = serviceCidrController({ registry: cluster.registry, logger });
  controller.start();
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
  return { ...cluster, clock, controller };
}

async function close({ controller, close: closeRegistry }: Cluster): Promise<void> {
  await controller.stop();
  await closeRegistry();
}

/** Lets the controller finish what it does without timers. */
async function settle(): Promise<void> {
  await passTurns(50);
}

const createCidr = (cluster: Cluster, name: string, ...ranges: string[]): Promise<KubeObject> =>
  cluster.create(cidrs, { metadata: { name }, spec: { cidrs: ranges } });

async function readyOf(cluster: Cluster, name: string): Promise<string> {
  const found = await cluster.find(cidrs, name);
  if (found === undefined) return "gone";
  const { status, reason, message } = found.status?.conditions?.[0] ?? {};
  return `${status} ${reason} ${message}`;
}

const isReady = "True  Kubernetes Service CIDR is ready";
const isBlocked =
  "False Terminating There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR";

test("a ServiceCIDR gets the finalizer and the condition Ready", async () => {
  const cluster = await open();
  await createCidr(cluster, "more", "10.1.0.0/24");
  await settle();
  assert.equal(await readyOf(cluster, "more"), isReady);
  assert.equal(await readyOf(cluster, "kubernetes"), isReady);
  const { metadata } = (await cluster.find(cidrs, "more")) as KubeObject;
  assert.deepEqual(metadata.finalizers, [serviceCidrFinalizer]);
  assert.deepEqual(
    metadata.managedFields?.map(({ manager, operation, subresource }) => [manager, operation, subresource]),
    [
      ["service-cidr-controller", "Apply", "status"],
      ["kube-controller-manager", "Update", undefined],
      ["test", "Update", undefined],
    ],
  );
  const revision = await cluster.registry.storage.current();
  await settle();
  assert.equal(await cluster.registry.storage.current(), revision, "the controller writes again");
  await close(cluster);
});

interface Deletion {
  readonly title: string;
  /** Other ServiceCIDRs besides `kubernetes`. */
  readonly others: Readonly<Record<string, readonly string[]>>;
  readonly addresses: readonly string[];
  /** The condition of the deleted ServiceCIDR after its grace period. */
  readonly expected: string;
}

/** The situations of upstream's test of the controller; `deleted` has 192.168.0.0/24 and 2001:db2::/64. */
const deletions: Deletion[] = [
  { title: "without addresses", others: {}, addresses: [], expected: "gone" },
  { title: "with an IPv4 address", others: {}, addresses: ["192.168.0.1"], expected: isBlocked },
  { title: "with an IPv6 address", others: {}, addresses: ["2001:db2::1"], expected: isBlocked },
  {
    title: "with addresses, and another of the same ranges",
    others: { same: ["192.168.0.0/24", "2001:db2::/64"] },
    addresses: ["192.168.0.1", "2001:db2::1"],
    expected: "gone",
  },
  {
    title: "with addresses, and larger others",
    others: { four: ["192.168.0.0/16"], six: ["2001:db2::/48"] },
    addresses: ["192.168.0.1", "2001:db2::1"],
    expected: "gone",
  },
  {
    title: "with an address, and another of the ranges next to it",
    others: { next: ["192.168.255.0/26", "2001:db2:a:b::/64"] },
    addresses: ["192.168.0.1"],
    expected: isBlocked,
  },
  {
    title: "with an address that a smaller one contains",
    others: { smaller: ["192.168.0.0/28"] },
    addresses: ["192.168.0.1"],
    expected: "gone",
  },
  {
    title: "with an address that is the broadcast address of a smaller one",
    others: { smaller: ["192.168.0.0/28"] },
    addresses: ["192.168.0.15"],
    expected: isBlocked,
  },
  { title: "with addresses of other ranges", others: {}, addresses: ["10.0.0.9"], expected: "gone" },
];

for (const { title, others, addresses: texts, expected } of deletions) {
  test(`a deletion ${title}`, async () => {
    const cluster = await open();
    await createCidr(cluster, "deleted", "192.168.0.0/24", "2001:db2::/64");
    for (const [name, ranges] of Object.entries(others)) await createCidr(cluster, name, ...ranges);
    for (const text of texts) await cluster.create(addresses, ipAddressOf(text, { namespace: "ns", name: "a" }));
    await settle();
    await cluster.delete(cidrs, "deleted");
    await settle();
    cluster.clock.advance(9_000);
    await settle();
    assert.equal(await readyOf(cluster, "deleted"), expected === "gone" ? isReady : expected);
    cluster.clock.advance(1_000);
    await settle();
    assert.equal(await readyOf(cluster, "deleted"), expected);
    await close(cluster);
  });
}

test("a blocked deletion goes on when its last address is released, and gives no address meanwhile", async () => {
  const cluster = await open();
  await createCidr(cluster, "more", "10.1.0.0/24");
  await settle();
  const create = (name: string): Promise<KubeObject> =>
    cluster.create(services, { metadata: { name }, spec: { clusterIP: "10.1.0.7", ports: [{ port: 80 }] } });
  await create("a");
  await cluster.delete(cidrs, "more");
  await settle();
  cluster.clock.advance(60_000);
  await settle();
  assert.equal(await readyOf(cluster, "more"), isBlocked);
  await assert.rejects(create("b"), /the provided network does not match the current range/);
  await cluster.delete(services, "a");
  await settle();
  assert.equal(await readyOf(cluster, "more"), "gone");
  await close(cluster);
});

test("a new ServiceCIDR of the same range lets a blocked deletion go on", async () => {
  const cluster = await open();
  await createCidr(cluster, "more", "10.1.0.0/24");
  await cluster.create(addresses, ipAddressOf("10.1.0.7", { namespace: "ns", name: "a" }));
  await settle();
  await cluster.delete(cidrs, "more");
  await settle();
  cluster.clock.advance(60_000);
  await settle();
  assert.equal(await readyOf(cluster, "more"), isBlocked);
  await createCidr(cluster, "again", "10.1.0.0/16");
  await settle();
  assert.equal(await readyOf(cluster, "more"), "gone");
  await close(cluster);
});
