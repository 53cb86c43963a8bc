import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Controller } from "../contract.ts";
import type { LeaseLock } from "../leader-election/contract.ts";
import { LeaderElector } from "../leader-election/elector.ts";
import { leaseLock } from "../leader-election/lease-lock.ts";
import { defaultLeaderElection as times } from "../leader-election/options.ts";
import { candidacy } from "./candidacy.ts";
import { candidateCollector } from "./candidate-collector.ts";
import { bestLeader, bestStrategy, candidateOf, needsElection } from "./candidates.ts";
import { electionCoordinator } from "./coordinator.ts";
import { type ElectionKinds, electionKinds, writes } from "./election-step.ts";

const leases = ["coordination.k8s.io/leases", "kube-system"] as const;
const candidates = ["coordination.k8s.io/leasecandidates", "kube-system"] as const;
const lease = "component";
const startedAt = "2026-01-02T03:04:05.000000Z";

let clock: ManualClock;
let cluster: MemoryRegistry;
let kinds: ElectionKinds;
let errors: string[];
let controllers: Controller[];

beforeEach(async () => {
  clock = manualClock(Date.parse(startedAt));
  cluster = await openMemoryRegistry({
    clock,
    featureGates: "CoordinatedLeaderElection=true",
    allVersionsOf: ["coordination.k8s.io"],
  });
  await cluster.create(["/namespaces", ""], { metadata: { name: "kube-system" } });
  kinds = electionKinds(cluster.registry) as ElectionKinds;
  errors = [];
  controllers = [];
});
afterEach(async () => {
  await Promise.all([...controllers.map((one) => one.stop()), pass(6)]);
  await cluster.close();
});

const logger = {
  info() {},
  warn() {},
  error: (message: string, values?: Record<string, unknown>) => void errors.push(`${message}: ${values?.error}`),
};

function run<Started extends Controller>(controller: Started): Started {
  controllers.push(controller);
  controller.start();
  return controller;
}

async function pass(seconds: number): Promise<void> {
  for (let half = 0; half < seconds * 2; half++) {
    clock.advance(500);
    await passTurns(30);
  }
}

const micro = (offsetSeconds: number): string =>
  new Date(clock.now() + offsetSeconds * 1000).toISOString().replace("Z", "000Z");

interface Given {
  readonly emulation?: string;
  readonly binary?: string;
  readonly strategy?: string;
  /** Seconds ago; undefined: unset. */
  readonly renewed?: number;
  readonly pinged?: number;
}

/** A candidate of another program, which does not answer. */
async function given(
  name: string,
  { emulation = "1.36.0", binary = "1.36.0", strategy, renewed = 0, pinged }: Given = {},
) {
  const spec = {
    leaseName: lease,
    emulationVersion: emulation,
    binaryVersion: binary,
    strategy: strategy ?? "OldestEmulationVersion",
    renewTime: micro(-renewed),
    ...(pinged !== undefined && { pingTime: micro(-pinged) }),
  };
  await cluster.create(candidates, { metadata: { name }, spec });
}

const coordinate = (): Controller => run(electionCoordinator({ registry: cluster.registry, logger }, kinds));
const stored = async (): Promise<KubeObject["spec"]> => (await cluster.find(leases, lease))?.spec;
const pingOf = async (name: string): Promise<string | undefined> =>
  (await cluster.find(candidates, name))?.spec.pingTime;

test("a candidate that has just renewed is elected", async () => {
  coordinate();
  await given("a");
  await pass(0.5);
  const { renewTime, ...spec } = await stored();
  assert.ok(renewTime >= startedAt);
  assert.deepEqual(spec, { holderIdentity: "a", leaseDurationSeconds: 5, strategy: "OldestEmulationVersion" });
  assert.equal(await pingOf("a"), undefined);
});

const order: [what: string, all: Record<string, Given>, leader: string][] = [
  ["the oldest emulation version", { a: { emulation: "1.36.0" }, b: { emulation: "1.35.0" } }, "b"],
  [
    "the oldest binary of equal emulation versions",
    { a: { emulation: "1.34.0", binary: "1.36.0" }, b: { emulation: "1.34.0", binary: "1.35.0" } },
    "b",
  ],
  ["numbers, not texts", { a: { emulation: "1.9.0" }, b: { emulation: "1.10.0" } }, "a"],
];
for (const [what, all, leader] of order) {
  test(`the leader has ${what}`, async () => {
    for (const [name, one] of Object.entries(all)) await given(name, one);
    coordinate();
    await pass(0.5);
    assert.equal((await stored()).holderIdentity, leader);
  });
}

test("candidates that have not renewed are pinged, and those that do not answer in time are not elected", async () => {
  await given("old", { emulation: "1.30.0", renewed: 60 });
  await given("new", { renewed: 60 });
  coordinate();
  await pass(0.5);
  assert.ok((await pingOf("old")) !== undefined && (await pingOf("new")) !== undefined);
  assert.equal(await stored(), undefined);
  await cluster.change(candidates, "new", (object) => {
    object.spec.renewTime = micro(0);
  });
  await pass(4);
  assert.equal(await stored(), undefined); // The other may answer.
  await cluster.change(candidates, "new", (object) => {
    object.spec.renewTime = micro(0);
  });
  await pass(1.5);
  assert.equal((await stored())?.holderIdentity, "new");
  assert.deepEqual(errors, []);
});

test("a better candidate is preferred while the holder lives, and holds the lease when it has expired", async () => {
  coordinate();
  await given("a");
  await pass(0.5);
  await given("b", { emulation: "1.35.0" });
  await pass(1);
  assert.deepEqual([(await stored()).holderIdentity, (await stored()).preferredHolder], ["a", "b"]);
  await cluster.change(leases, lease, (object) => {
    object.spec.renewTime = micro(-60);
  });
  for (const name of ["a", "b"]) {
    await cluster.change(candidates, name, (object) => {
      object.spec.renewTime = micro(0);
    });
  }
  await pass(1);
  assert.deepEqual([(await stored()).holderIdentity, (await stored()).preferredHolder], ["b", undefined]);
});

test("candidates with another strategy get a lease without a holder", async () => {
  await given("a", { strategy: "example.com/other" });
  coordinate();
  await pass(0.5);
  const { holderIdentity, strategy } = await stored();
  assert.deepEqual([holderIdentity, strategy], [undefined, "example.com/other"]);
});

test("candidates that disagree about the strategy are not elected", async () => {
  await given("a", { strategy: "example.com/other" });
  await given("b");
  coordinate();
  await pass(0.5);
  assert.equal(await stored(), undefined);
  assert.match(
    errors.join(),
    /candidates "a", "b" at same binary version but received differing strategies example.com\/other, OldestEmulationVersion/,
  );
});

test("hostile candidates and leases do not stop the elections of others", async () => {
  coordinate();
  await given("a", { renewed: -1e9 });
  await cluster.create(candidates, {
    metadata: { name: "odd" },
    spec: {
      leaseName: "a/../b",
      binaryVersion: "1.0.0",
      emulationVersion: "1.0.0",
      strategy: "OldestEmulationVersion",
      renewTime: micro(0),
    },
  });
  await cluster.create(leases, { metadata: { name: "unrelated" }, spec: {} });
  await pass(2);
  assert.equal((await stored()).holderIdentity, "a");
  assert.match(errors.join(), /a\/\.\.\/b/);
  await cluster.change(leases, lease, (object) => {
    object.spec = {};
  });
  await pass(6);
  assert.equal((await stored()).holderIdentity, "a");
});

test("expired candidates are deleted, the others kept", async () => {
  await given("expired", { renewed: 1801 });
  await given("silent", { renewed: 1700 });
  await given("future", { renewed: -1e9 });
  run(candidateCollector({ registry: cluster.registry, logger }, kinds));
  await pass(0.5);
  const left = async () =>
    (await Promise.all(["expired", "silent", "future"].map((name) => cluster.find(candidates, name)))).map(Boolean);
  assert.deepEqual(await left(), [false, true, true]);
  clock.advance(30 * 60_000);
  await pass(0.5);
  assert.deepEqual(await left(), [false, false, true]);
});

interface Server {
  readonly elector: LeaderElector;
  leads: boolean;
}

/** A server that answers pings and leads when it is elected. */
function server(identity: string, version: string): Server {
  const { registry } = cluster;
  const lock = leaseLock({ registry, namespace: "kube-system", name: lease, writes }) as LeaseLock;
  const state = { leads: false };
  const versions = { binaryVersion: version, emulationVersion: version };
  run(candidacy({ registry, logger, kinds, writes, namespace: "kube-system", lease, identity, versions }));
  const elector = new LeaderElector({
    lock,
    name: lease,
    identity,
    times,
    clock,
    fraction: () => 0,
    logger: { info() {}, warn() {}, error() {} },
    observer: { isLeader: (_name, leads) => void Object.assign(state, { leads }), slowPath() {} },
    isCoordinated: true,
    lead: () => async () => {},
  });
  run(elector);
  return Object.assign(state, { elector });
}

test("servers follow the election: the one with the older release leads, also when it comes later", async () => {
  coordinate();
  const newer = server("newer", "1.36.0");
  await pass(8);
  assert.equal(newer.leads, true);
  const { acquireTime, strategy, leaseDurationSeconds } = await stored();
  assert.deepEqual([acquireTime, strategy, leaseDurationSeconds], [undefined, "OldestEmulationVersion", 15]);
  const older = server("older", "1.35.0");
  let both = false;
  for (let half = 0; half < 80 && !older.leads; half++) {
    await pass(0.5);
    both ||= newer.leads && older.leads;
  }
  assert.deepEqual([newer.leads, older.leads, both], [false, true, false]);
  await older.elector.stop();
  await pass(20);
  assert.equal((await stored()).holderIdentity === "newer" || (await stored()).holderIdentity === "older", true);
});

const candidate = (spec: object) => candidateOf({ metadata: { name: "c" }, spec }, 1);
test("invalid versions count as the lowest, and are not elected", () => {
  const invalid = candidate({ emulationVersion: "x", binaryVersion: "1.36.0" });
  assert.equal(bestLeader([invalid]), undefined);
  const strategies = [
    candidate({ binaryVersion: "x", strategy: "a" }),
    candidate({ binaryVersion: "1.0.0", strategy: "b" }),
  ];
  assert.equal(bestStrategy(strategies), "b");
  assert.throws(() => bestStrategy([]), /no available candidates/);
});

const now = Date.parse(startedAt);
const held = { holderIdentity: "c", leaseDurationSeconds: 15, renewTime: startedAt };
const fresh = {
  emulationVersion: "1.36.0",
  binaryVersion: "1.36.0",
  strategy: "OldestEmulationVersion",
  renewTime: startedAt,
};
const needs: [what: string, spec: object | undefined, candidate: object, needed: boolean][] = [
  ["no lease", undefined, fresh, true],
  ["the best holder", held, fresh, false],
  ["another holder", { ...held, holderIdentity: "d" }, fresh, true],
  ["no holder", { ...held, holderIdentity: "" }, fresh, true],
  ["no times", { holderIdentity: "c" }, fresh, true],
  ["an expired lease", { ...held, renewTime: "2026-01-02T03:03:49.000000Z" }, fresh, true],
  ["a candidate that is to renew", held, { ...fresh, renewTime: "2026-01-02T02:49:04.000000Z" }, true],
  ["another strategy", { ...held, holderIdentity: "d" }, { ...fresh, strategy: "other" }, false],
];
for (const [what, spec, one, needed] of needs) {
  test(`${what}: an election is ${needed ? "" : "not "}needed`, () => {
    const object = spec && { metadata: {}, spec };
    assert.equal(needsElection([candidate(one)], object, now), needed);
  });
}
