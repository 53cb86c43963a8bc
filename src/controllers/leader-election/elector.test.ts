/**
 * Guarantees: a write succeeds only while the stored Lease names its writer as the holder; a holder that is alive
 * keeps other candidates out; a Lease without a living holder is acquired.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import type { WriteFence } from "../../registry/contract.ts";
import { create } from "../../registry/create.ts";
import { writesBy } from "../controller-write.ts";
import type { LeaseLock } from "./contract.ts";
import { LeaderElector } from "./elector.ts";
import { leaseLock } from "./lease-lock.ts";
import { defaultLeaderElection as times } from "./options.ts";

const leases = ["coordination.k8s.io/leases", "kube-system"] as const;
const name = "kube-controller-manager";
const writes = writesBy(loopbackUser, "test");

let clock: ManualClock;
let cluster: MemoryRegistry;

before(() => {
  clock = manualClock(Date.parse("2026-01-02T03:04:05.678Z"));
});
beforeEach(async () => {
  cluster = await openMemoryRegistry({ clock });
  for (const namespace of ["kube-system", "default"])
    await cluster.create(["/namespaces", ""], { metadata: { name: namespace } });
});

interface Candidate {
  readonly elector: LeaderElector;
  /** What happened, in order. */
  readonly log: string[];
  /** Values of the gauge. */
  leads: boolean;
  /** Whether the store is out of reach. */
  isCutOff: boolean;
  /** The leader's work ends when it resolves. */
  work: Promise<void>;
  /** Creates an object as a controller of the leader; undefined: the write was rejected. */
  write(): Promise<{ readonly revision: number } | undefined>;
}

let objects = 0;

function candidate(identity: string, isGone?: (holder: string) => boolean): Candidate {
  const { registry } = cluster;
  let fence: WriteFence | undefined;
  const state = { log: [] as string[], leads: false, isCutOff: false, work: Promise.resolve() };
  const found = leaseLock({ registry, namespace: "kube-system", name, writes }) as LeaseLock;
  const reach = <T>(run: () => Promise<T>): Promise<T> => (state.isCutOff ? new Promise<T>(() => {}) : run());
  const lock: LeaseLock = {
    ...found,
    read: () => reach(found.read),
    create: (record) => reach(() => found.create(record)),
    update: (record, revision) => reach(() => found.update(record, revision)),
  };
  const elector = new LeaderElector({
    lock,
    name,
    identity,
    times,
    clock,
    fraction: () => 0,
    logger: { info() {}, warn() {}, error() {} },
    observer: {
      isLeader: (_name, leads) => {
        state.leads = leads;
      },
      slowPath: () => state.log.push("slow path"),
    },
    ...(isGone && { isGone }),
    report: async (_lease, what) => void state.log.push(what),
    lead(given) {
      fence = given;
      return async () => {
        await state.work;
        state.log.push("stopped");
      };
    },
  });
  return Object.assign(state, {
    elector,
    async write() {
      if (fence === undefined) return undefined;
      const target = registry.catalog.findServed("", "v1", "configmaps");
      assert.ok(target !== undefined);
      const decode = (): KubeObject => ({ metadata: { name: `written-${objects++}` } });
      try {
        const written = await create({ ...registry, fence }, { ...writes.of(target, "default", ""), decode });
        assert.ok("entry" in written);
        return written.entry;
      } catch (error) {
        if (error instanceof ApiError && error.status.code === 503) return undefined;
        throw error;
      }
    },
  });
}

const lease = (): Promise<KubeObject | undefined> => cluster.find(leases, name);
const holder = async (): Promise<string> => (await lease())?.spec.holderIdentity ?? "";
const change = (spec: object): Promise<void> =>
  cluster.change(leases, name, (object) => {
    object.spec = { ...object.spec, ...spec };
  });

/** Lets everything run that does not wait for the clock. */
async function settle(): Promise<void> {
  await passTurns(30);
}

/** Advances the clock in steps, as time passes. */
async function pass(seconds: number, stepMs = 500): Promise<void> {
  for (let ms = 0; ms < seconds * 1000; ms += stepMs) {
    clock.advance(stepMs);
    await settle();
  }
}

after(() => cluster.close());

test("the first candidate leads at once, renews, and the second follows when it stops", async () => {
  const [a, b] = [candidate("a"), candidate("b")];
  a.elector.start();
  await settle();
  const { spec } = (await lease()) as KubeObject;
  assert.match(spec.renewTime, /^2026-01-02T.*\.\d{3}000Z$/);
  assert.deepEqual(spec, {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: spec.renewTime,
    renewTime: spec.renewTime,
    leaseTransitions: 0,
  });
  b.elector.start();
  await pass(60);
  assert.deepEqual([a.log, b.log, a.leads, b.leads], [["became leader"], [], true, false]);
  assert.equal((await lease())?.spec.acquireTime, spec.acquireTime);
  await a.elector.stop();
  assert.deepEqual([a.log, a.leads], [["became leader", "stopped", "stopped leading"], false]);
  const released = (await lease())?.spec;
  assert.deepEqual([released.holderIdentity, released.leaseDurationSeconds], ["", 1]);
  await pass(2.5);
  assert.equal(await holder(), "b");
  assert.equal((await lease())?.spec.leaseTransitions, 1);
  await b.elector.stop();
});

test("a leader without a store stops in time, and another acquires its lease only afterwards", async () => {
  const [a, b] = [candidate("a"), candidate("b")];
  a.elector.start();
  await settle();
  b.elector.start();
  await pass(10);
  a.isCutOff = true;
  let endedAfter = 0;
  let acquiredAfter = 0;
  for (let half = 1; half < 60 && acquiredAfter === 0; half++) {
    await pass(0.5);
    if (!a.leads && endedAfter === 0) endedAfter = half / 2;
    if (b.leads) acquiredAfter = half / 2;
  }
  assert.ok(endedAfter <= 10, `ended after ${endedAfter} s`);
  assert.ok(acquiredAfter >= 13 && acquiredAfter <= 18, `acquired after ${acquiredAfter} s`);
  assert.equal(await a.write(), undefined);
  assert.ok((await b.write()) !== undefined);
  a.isCutOff = false;
  await pass(30);
  assert.deepEqual([a.leads, b.leads], [false, true]);
  await Promise.all([a.elector.stop(), b.elector.stop()]);
});

const hostile: [what: string, spec: object, acquiredAfterSeconds: number | undefined][] = [
  ["a time in the future", { renewTime: "9999-12-31T23:59:59.999999Z" }, 15],
  ["no times and no duration", { renewTime: undefined, acquireTime: undefined, leaseDurationSeconds: undefined }, 2],
  ["an empty holder", { holderIdentity: "" }, 2],
  ["the greatest duration", { leaseDurationSeconds: 2 ** 31 - 1 }, undefined],
  ["the greatest number of transitions", { leaseTransitions: 2 ** 31 - 1 }, 15],
  ["a strategy of coordinated elections", { strategy: "OldestEmulationVersion", preferredHolder: "z" }, 15],
];
for (const [what, spec, seconds] of hostile) {
  test(`the lease of a dead holder with ${what} is acquired ${seconds === undefined ? "never" : `after ${seconds} s`}`, async () => {
    const record = { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" };
    await cluster.create(leases, { metadata: { name }, spec: { ...record, ...spec } });
    const a = candidate("a");
    a.elector.start();
    let passed = 0;
    for (; passed < 40 && !a.leads; passed += 0.5) await pass(0.5);
    if (seconds === undefined) assert.equal(await holder(), "dead");
    else assert.ok(passed >= seconds - 2 && passed <= seconds + 3, `after ${passed} s`);
    await a.elector.stop();
  });
}

test("the lease of a holder that cannot be running is acquired at once", async () => {
  const record = { holderIdentity: "host_me", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" };
  await cluster.create(leases, { metadata: { name }, spec: record });
  const a = candidate("other_me", (one) => one.endsWith("_me"));
  a.elector.start();
  await settle();
  assert.equal(await holder(), "other_me");
  await a.elector.stop();
});

const takeovers: [what: string, take: () => Promise<void>][] = [
  ["another client changes the holder", () => change({ holderIdentity: "client" })],
  ["another client empties the holder", () => change({ holderIdentity: "" })],
  ["the lease is deleted", () => cluster.delete(leases, name)],
  [
    "another client deletes the lease and creates its own",
    async () => {
      await cluster.delete(leases, name);
      await cluster.create(leases, { metadata: { name }, spec: { holderIdentity: "client" } });
    },
  ],
];
for (const [what, take] of takeovers) {
  test(`the leader writes nothing from the moment when ${what}`, async () => {
    const a = candidate("a");
    a.elector.start();
    await settle();
    assert.ok((await a.write()) !== undefined);
    await take();
    assert.equal(await a.write(), undefined);
    await settle();
    assert.deepEqual([a.leads, a.log], [false, ["became leader", "stopped leading", "stopped"]]);
    await a.elector.stop();
    assert.ok(["client", ""].includes(await holder()));
  });
}

test("a leader keeps its lease when other clients change its labels", async () => {
  const a = candidate("a");
  a.elector.start();
  await settle();
  for (const value of ["1", "2"]) {
    await cluster.change(leases, name, (object) => {
      object.metadata.labels = { value };
    });
    assert.ok((await a.write()) !== undefined);
    await pass(3);
  }
  assert.deepEqual(a.log, ["became leader", "slow path", "slow path"]);
  assert.deepEqual((await lease())?.metadata.labels, { value: "2" });
  await a.elector.stop();
});

test("work that does not end after the term is a problem, and delays the next attempt", async () => {
  const a = candidate("a");
  a.elector.start();
  await settle();
  let end = (): void => {};
  a.work = new Promise((resolve) => {
    end = resolve;
  });
  await cluster.delete(leases, name);
  assert.equal(await a.write(), undefined);
  await pass(35);
  assert.equal(a.elector.problem(), undefined);
  await pass(1);
  assert.equal(a.elector.problem(), "failed election to renew leadership on lease kube-controller-manager");
  assert.equal(await lease(), undefined);
  end();
  await settle();
  await pass(2);
  assert.deepEqual([a.elector.problem(), await holder()], [undefined, "a"]);
  await a.elector.stop();
});

/** Random faults and clients; each write that succeeds is compared with the Lease at its revision. */
test("a write succeeds only while the stored Lease names its writer", async () => {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const all = ["a", "b", "c"].map((identity) => ({ identity, self: candidate(identity) }));
  const lock = leaseLock({ registry: cluster.registry, namespace: "kube-system", name, writes }) as LeaseLock;
  for (const one of all) one.self.elector.start();
  const counts = { written: 0, rejected: 0 };
  const write = async ({ identity, self }: (typeof all)[number]): Promise<void> => {
    const written = await self.write();
    counts[written === undefined ? "rejected" : "written"] += 1;
    if (written === undefined) return;
    const stored = await cluster.registry.storage.get(lock.key, written.revision);
    assert.equal(stored && lock.holderOf(stored), identity, `SEED=${seed}`);
  };
  const ignore = (): void => {}; // The Lease may be absent.
  const steps: (() => unknown)[] = [
    () => pass(random(6) / 2),
    () => pass(random(6) / 2),
    () => pass(random(20)),
    () => {
      const one = pick(all);
      one.self.isCutOff = !one.self.isCutOff;
    },
    () => change({ holderIdentity: pick(["a", "b", "c", "client", ""]) }).catch(ignore),
    () => change({ leaseDurationSeconds: pick([1, 15, 60]), renewTime: "9999-12-31T23:59:59.999999Z" }).catch(ignore),
    () => cluster.delete(leases, name).catch(ignore),
  ];
  for (let step = 0; step < 300; step++) {
    await Promise.all([pick(steps)(), ...all.map(write)]);
    await Promise.all(all.map(write));
  }
  assert.ok(counts.written > 20 && counts.rejected > 20, JSON.stringify({ seed, ...counts }));
  for (const one of all) one.self.isCutOff = false;
  await Promise.all([...all.map(({ self }) => self.elector.stop()), pass(30)]);
});
