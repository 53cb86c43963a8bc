import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { serverIdentity } from "../../apimachinery/server-identity.ts";
import { identityLease } from "./identity-lease.ts";
import { identityLeaseCollector } from "./lease-collector.ts";

const leases = ["coordination.k8s.io/leases", "kube-system"] as const;
const name = serverIdentity("host-1");
const label = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
const logger = { info() {}, warn() {}, error: (message: string, values?: object) => assert.fail(message + values) };

let clock: ManualClock;
let cluster: MemoryRegistry;

beforeEach(async () => {
  clock = manualClock(Date.parse("2026-01-02T03:04:05.678Z"));
  cluster = await openMemoryRegistry({ clock });
  await cluster.create(["/namespaces", ""], { metadata: { name: "kube-system" } });
});
afterEach(() => cluster.close());

async function settle(): Promise<void> {
  await passTurns(30);
}

const find = (one = name): Promise<KubeObject | undefined> => cluster.find(leases, one);
const lease = (
  { peerAddress, isShared = true, renewMs = 10_000 }: { peerAddress?: string; isShared?: boolean; renewMs?: number } = {
    peerAddress: "192.0.2.1:6443",
  },
) => {
  const { registry } = cluster;
  const created = identityLease({ registry, logger, hostname: "host-1", isShared, renewMs, peerAddress });
  assert.ok(created !== undefined);
  return created;
};

test("the Lease names the server, and is renewed and deleted", async () => {
  const own = lease();
  await own.start();
  const { metadata, spec } = (await find()) as KubeObject;
  assert.deepEqual(metadata.labels, { ...label, "kubernetes.io/hostname": "host-1" });
  assert.deepEqual(metadata.annotations, { "kubernetes.io/peer-advertise-address": "192.0.2.1:6443" });
  const { holderIdentity, ...rest } = spec;
  assert.match(holderIdentity, /^apiserver-[a-z2-7]{26}_[0-9a-f]{8}-/);
  assert.deepEqual(rest, { leaseDurationSeconds: 3600, renewTime: "2026-01-02T03:04:05.678000Z" });
  clock.advance(10_400);
  await settle();
  const renewed = Date.parse((await find())?.spec.renewTime) - Date.parse("2026-01-02T03:04:05.678Z");
  assert.ok(renewed >= 10_000 && renewed <= 10_400, String(renewed));
  await own.stop();
  assert.equal(await find(), undefined);
  clock.advance(60_000);
  await settle();
  assert.equal(await find(), undefined);
});

test("the Lease is renewed as often as the server says", async () => {
  const own = lease({ isShared: false, renewMs: 900_000 });
  await own.start();
  const { resourceVersion } = (await find())?.metadata ?? {};
  clock.advance(899_000);
  await settle();
  assert.equal((await find())?.metadata.resourceVersion, resourceVersion);
  clock.advance(40_000);
  await settle();
  assert.notEqual((await find())?.metadata.resourceVersion, resourceVersion);
  await own.stop();
});

test("a new process replaces the Lease of its predecessor", async () => {
  await lease().start();
  const { uid } = (await find())?.metadata ?? {};
  const next = lease({});
  await next.start();
  const { metadata } = (await find()) as KubeObject;
  assert.notEqual(metadata.uid, uid);
  assert.equal(metadata.annotations, undefined);
  await next.stop();
});

test("the only server of a store takes over the Lease of its predecessor with one write", async () => {
  const alone = { isShared: false } as const;
  await lease({ ...alone, peerAddress: "192.0.2.1:6443" }).start();
  const { spec } = (await find()) as KubeObject;
  const revision = await cluster.registry.storage.current();
  const next = lease(alone);
  await next.start();
  const found = (await find()) as KubeObject;
  assert.notEqual(found.spec.holderIdentity, spec.holderIdentity);
  assert.deepEqual(found.metadata.annotations, undefined);
  assert.deepEqual(found.metadata.labels, { ...label, "kubernetes.io/hostname": "host-1" });
  assert.equal(await cluster.registry.storage.current(), revision + 1);
  await next.stop();
});

test("the Lease of two processes on one host exists again after one of them stops", async () => {
  const [first, second] = [lease(), lease({ peerAddress: "192.0.2.1:7443" })];
  await first.start();
  await second.start();
  const { holderIdentity } = (await find())?.spec ?? {};
  clock.advance(10_400);
  await settle();
  assert.equal((await find())?.spec.holderIdentity, holderIdentity);
  await first.stop();
  clock.advance(10_400);
  await settle();
  const { metadata, spec } = (await find()) as KubeObject;
  assert.deepEqual(metadata.annotations, { "kubernetes.io/peer-advertise-address": "192.0.2.1:7443" });
  assert.equal(spec.holderIdentity, holderIdentity);
  await second.stop();
  assert.equal(await find(), undefined);
});

test("a deleted or changed Lease is corrected", async () => {
  const own = lease();
  await own.start();
  const { holderIdentity } = (await find())?.spec ?? {};
  await cluster.delete(leases, name);
  clock.advance(10_400);
  await settle();
  assert.equal((await find())?.spec.holderIdentity, holderIdentity);
  await cluster.change(leases, name, (object) => {
    delete object.metadata.labels;
    delete object.metadata.annotations;
    object.spec = { ...object.spec, leaseDurationSeconds: 1, renewTime: "9999-12-31T23:59:59.999999Z" };
  });
  clock.advance(10_400);
  await settle();
  const { metadata, spec } = (await find()) as KubeObject;
  assert.equal(metadata.labels?.["kubernetes.io/hostname"], "host-1");
  assert.equal(spec.leaseDurationSeconds, 3600);
  assert.match(spec.renewTime, /^2026/);
  await own.stop();
});

const renewTime = "2026-01-02T02:04:05.000000Z";
const collected: [what: string, metadata: object, spec: object, isDeleted: boolean][] = [
  ["expired", { labels: label }, { renewTime, leaseDurationSeconds: 3600 }, true],
  ["not expired", { labels: label }, { renewTime, leaseDurationSeconds: 3602 }, false],
  ["without a time", { labels: label }, { leaseDurationSeconds: 3600 }, true],
  ["without a duration", { labels: label }, { renewTime }, true],
  ["without a spec", { labels: label }, {}, true],
  [
    "of the far future",
    { labels: label },
    { renewTime: "9999-12-31T23:59:59.999999Z", leaseDurationSeconds: 1 },
    false,
  ],
  ["expired, without the label", {}, { renewTime, leaseDurationSeconds: 1 }, false],
  [
    "expired, of another component",
    { labels: { "apiserver.kubernetes.io/identity": "other" } },
    { renewTime, leaseDurationSeconds: 1 },
    false,
  ],
];
for (const [what, metadata, spec, isDeleted] of collected) {
  test(`a Lease that is ${what} is ${isDeleted ? "deleted" : "kept"}`, async () => {
    await cluster.create(leases, { metadata: { name: "one", ...metadata }, spec });
    const collector = identityLeaseCollector({ registry: cluster.registry, logger });
    collector.start();
    await settle();
    assert.equal((await find("one")) === undefined, isDeleted);
    await collector.stop();
  });
}

test("the Leases are checked each hour", async () => {
  await cluster.create(leases, {
    metadata: { name: "one", labels: label },
    spec: { renewTime, leaseDurationSeconds: 5000 },
  });
  const collector = identityLeaseCollector({ registry: cluster.registry, logger });
  collector.start();
  await settle();
  assert.ok((await find("one")) !== undefined);
  clock.advance(3_600_000);
  await settle();
  assert.equal(await find("one"), undefined);
  await collector.stop();
});
