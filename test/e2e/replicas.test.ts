/** Several servers over one store: one runs the controllers, and another follows when it ends or loses its lease. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Clock, systemClock } from "../../src/apimachinery/clock.ts";
import type { ServerOptions } from "../../src/index.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { cutOffStorage } from "../support/cut-off-storage.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";
/** Short, and in the proportions of the defaults. */
const leaderElection = {
  elect: undefined,
  leaseDurationMs: 3_000,
  renewDeadlineMs: 2_000,
  retryPeriodMs: 200,
  resourceNamespace: "kube-system",
  resourceName: "kube-controller-manager",
};
const options = { leaderElection, controllers: ["*"] };

interface Replica {
  readonly server: TestServer;
  readonly client: RawClient;
  close(): Promise<void>;
}

async function start(shared: Storage, more: Partial<ServerOptions> = {}): Promise<Replica> {
  const server = await startTestServer({ ...options, ...more }, shared);
  const client = rawClient(server.kubeconfig);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    client.close();
    closing ??= server.close();
    return closing;
  };
  return { server, client, close };
}

/** For checks of metrics, which are expensive: a server formats all of them. */
const rarely = { intervalMs: 250 };

/** The gauge of a server. */
async function leads({ client }: Replica): Promise<boolean> {
  const { text } = await client.send({ path: "/metrics" });
  const [, value] = /^leader_election_master_status\{name="kube-controller-manager"\} ([01])$/m.exec(text) ?? [];
  assert.ok(value !== undefined);
  return value === "1";
}

/** Creates a namespace and waits until the controllers have filled and removed it. */
async function checkControllers({ client }: Replica, name: string): Promise<void> {
  const created = await client.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
  assert.equal(created.status, 201, created.text);
  const path = `/api/v1/namespaces/${name}`;
  const status = async (where: string): Promise<number> => (await client.send({ path: where })).status;
  await eventually("the ServiceAccount exists", async () => (await status(`${path}/serviceaccounts/default`)) === 200);
  await client.send({ method: "DELETE", path });
  await eventually("the namespace is deleted", async () => (await status(path)) === 404);
}

describe("two servers over one store", () => {
  let shared: Storage;
  let first: Replica;
  let second: Replica;
  before(async () => {
    shared = await openSharedStorage();
    first = await start(shared);
    await eventually("the first leads", () => leads(first), rarely);
    second = await start(shared);
  });
  after(async () => {
    await Promise.all([first.close(), second.close()]);
    await shared.close();
  });

  test("one holds the lease and reports it in an Event", async () => {
    const { spec } = (await second.client.send({ path: leasePath })).body;
    assert.match(spec.holderIdentity, /^.+_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.deepEqual([spec.leaseDurationSeconds, spec.leaseTransitions], [3, 0]);
    assert.deepEqual([await leads(first), await leads(second)], [true, false]);
    const events = async () =>
      (await second.client.send({ path: "/api/v1/namespaces/kube-system/events" })).body.items.filter(
        ({ reason }: { reason: string }) => reason === "LeaderElection",
      );
    await eventually("the Event exists", async () => (await events()).length === 1);
    const [{ message, type, source, involvedObject }] = await events();
    assert.equal(message, `${spec.holderIdentity} became leader`);
    assert.deepEqual([type, source], ["Normal", { component: "kube-controller-manager" }]);
    const { uid, resourceVersion, ...subject } = involvedObject;
    assert.ok(uid !== undefined && resourceVersion !== undefined);
    assert.deepEqual(subject, {
      kind: "Lease",
      namespace: "kube-system",
      name: "kube-controller-manager",
      apiVersion: "coordination.k8s.io/v1",
    });
  });

  test("the controllers serve the clients of both", async () => {
    await checkControllers(first, "of-first");
    await checkControllers(second, "of-second");
  });

  test("a definition that one server accepts is served by both", async () => {
    const group = "replicas.example.com";
    const body = {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    };
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const created = await second.client.send({ method: "POST", path: definitions, body });
    assert.equal(created.status, 201, created.text);
    const things = `/apis/${group}/v1/namespaces/default/things`;
    for (const { client } of [first, second])
      await eventually("it is served", async () => (await client.send({ path: things })).status === 200);
    const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } };
    assert.equal((await first.client.send({ method: "POST", path: things, body: thing })).status, 201);
    assert.equal((await second.client.send({ path: `${things}/a` })).status, 200);
    await first.client.send({ method: "DELETE", path: `${definitions}/things.${group}` });
    for (const { client } of [first, second])
      await eventually("it is gone", async () => (await client.send({ path: things })).status === 404);
  });

  test("another holder stops the controllers of both until its lease ends", async () => {
    let before: number | undefined;
    await eventually("the lease is taken between two renewals", async () => {
      const { body: lease } = await second.client.send({ path: leasePath });
      before = lease.spec.leaseTransitions;
      lease.spec = { ...lease.spec, holderIdentity: "another-manager", leaseDurationSeconds: 2 };
      lease.spec.renewTime = "9999-12-31T23:59:59.000000Z";
      return (await second.client.send({ method: "PUT", path: leasePath, body: lease })).status === 200;
    });
    await eventually("the first steps down", async () => !(await leads(first)), rarely);
    assert.equal(await leads(second), false);
    const taken = async () => (await second.client.send({ path: leasePath })).body.spec;
    await eventually("one acquires the lease again", async () => (await leads(first)) || (await leads(second)), rarely);
    assert.equal((await taken()).leaseTransitions, (before ?? 0) + 1);
    await checkControllers(second, "afterwards");
  });

  test("the other server leads as soon as the leader has stopped", async () => {
    const [leader, other] = (await leads(first)) ? [first, second] : [second, first];
    await leader.close();
    await eventually("the other leads", () => leads(other), rarely);
    await checkControllers(other, "after-the-end");
    const health = await other.client.send({ path: "/readyz?verbose" });
    assert.match(health.text, /^\[\+\]leaderElection ok$/m);
  });
});

test("another server leads after the leader has lost the store, which writes nothing more", async () => {
  const shared = await openSharedStorage();
  const { storage, cut } = cutOffStorage(shared);
  const first = await start(storage);
  await eventually("the first leads", () => leads(first), rarely);
  const second = await start(shared);
  cut();
  await eventually("the first steps down", async () => !(await leads(first)), rarely);
  await eventually("the second leads", () => leads(second), rarely);
  await checkControllers(second, "after-the-loss");
  await Promise.all([first.close(), second.close()]);
  await shared.close();
});

test("the endpoints of the Service kubernetes are the servers that do not stop", async () => {
  const shared = await openSharedStorage();
  const first = await start(shared, { advertiseAddress: "192.0.2.1" });
  let endDelay = (): void => {};
  const shutdownDelayMs = 60_000;
  const clock: Clock = {
    ...systemClock,
    after(delayMs, run) {
      if (delayMs === shutdownDelayMs) endDelay = run;
      return systemClock.after(delayMs, run);
    },
  };
  const second = await start(shared, { advertiseAddress: "192.0.2.2", shutdownDelayMs, clock });
  const addresses = async ({ client }: Replica): Promise<string[]> => {
    const endpoints = await client.send({ path: "/api/v1/namespaces/default/endpoints/kubernetes" });
    return endpoints.body.subsets[0].addresses.map(({ ip }: { ip: string }) => ip);
  };
  assert.deepEqual(await addresses(first), ["192.0.2.1", "192.0.2.2"]);
  const closing = second.server.close();
  await eventually("the second leaves", async () => (await addresses(first)).length === 1);
  assert.deepEqual(await addresses(second), ["192.0.2.1"]); // It serves until the end of the delay.
  assert.equal((await second.client.send({ path: "/readyz" })).status, 500);
  endDelay();
  await closing;
  second.client.close();
  await first.close();
  await shared.close();
});

test("with coordinated elections the servers are candidates, and the elected one runs the controllers", async () => {
  const shared = await openSharedStorage();
  const coordinated = {
    featureGates: "CoordinatedLeaderElection=true",
    runtimeConfig: "coordination.k8s.io/v1beta1=true",
    coordinatedLeadership: leaderElection,
  };
  const first = await start(shared, coordinated);
  const second = await start(shared, coordinated);
  const inSystem = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  await eventually("one leads", async () => (await leads(first)) !== (await leads(second)), rarely);
  const { spec } = (await first.client.send({ path: leasePath })).body;
  assert.equal(spec.strategy, "OldestEmulationVersion");
  const candidates = "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates";
  const { items } = (await second.client.send({ path: candidates })).body;
  const names = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  assert.equal(names.length, 2);
  assert.ok(names.includes(spec.holderIdentity));
  for (const candidate of items) {
    const { leaseName, binaryVersion, emulationVersion, strategy } = candidate.spec;
    assert.deepEqual([leaseName, strategy], ["kube-controller-manager", "OldestEmulationVersion"]);
    assert.deepEqual([binaryVersion, emulationVersion], ["1.36.0", "1.36.0"]);
  }
  const coordinator = (await first.client.send({ path: `${inSystem}/leader-election-controller` })).body;
  assert.ok(coordinator.spec.holderIdentity !== "");
  await checkControllers(first, "of-first");
  await Promise.all([first.close(), second.close()]);
  await shared.close();
});

test("a server that has its store alone runs its controllers at once, without a lease", async () => {
  const server = await startTestServer({ controllers: ["*"] });
  const client = rawClient(server.kubeconfig);
  assert.equal((await client.send({ path: leasePath })).status, 404);
  const identities =
    "/apis/coordination.k8s.io/v1/leases?labelSelector=apiserver.kubernetes.io/identity=kube-apiserver";
  const [identity, ...others] = (await client.send({ path: identities })).body.items;
  assert.equal(identity.metadata.labels["kubernetes.io/hostname"], hostname());
  assert.deepEqual(others, []);
  assert.doesNotMatch((await client.send({ path: "/readyz?verbose" })).text, /leaderElection/);
  client.close();
  await server.close();
});

test("a server that has its store alone does not wait for the lease of its killed predecessor", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "coxswain-test-"));
  const alone = { controllers: ["*"], storage: "lmdb", dataDir } as const;
  const killed = await startTestServer(alone);
  const client = rawClient(killed.kubeconfig);
  const { body: namespace } = await client.send({ path: "/api/v1/namespaces/kube-system" });
  const { uid } = namespace.metadata;
  // The lease of a process on another host that was killed.
  const now = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: `before_${uid}`, leaseDurationSeconds: 3600, renewTime: now };
  const path = leasePath.replace("/kube-controller-manager", "");
  const lease = { metadata: { name: "kube-controller-manager" }, spec };
  assert.equal((await client.send({ method: "POST", path, body: lease })).status, 201);
  client.close();
  await killed.close();

  const server = await startTestServer({ ...alone, leaderElection: { ...leaderElection, elect: true } });
  const next = { server, client: rawClient(server.kubeconfig), close: () => server.close() };
  await eventually("it leads", () => leads(next), rarely);
  assert.equal((await next.client.send({ path: leasePath })).body.spec.holderIdentity, `${hostname()}_${uid}`);
  next.client.close();
  await next.close();
  rmSync(dataDir, { recursive: true });
});
