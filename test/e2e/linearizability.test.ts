/**
 * Three servers over three members of etcd, which are killed, paused and cut off, and whose history is
 * compacted. Guarantees, at random times and for random clients:
 * - answers are linearizable in the order of revisions: a consistent read shows every write that any
 *   server has answered before, and a write is made on the state that it replaces;
 * - an acknowledged write is in the store, once, and a rejected one is not;
 * - an informer receives each change after its list once and in order, also over several servers, and
 *   its objects equal a new list at the end.
 *
 * Servers with planted faults show that the check can fail. SEED=n replays the choices of requests and
 * faults, OPERATIONS=n sets the number of requests. In the small size, each kind of fault happens once.
 */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { type EtcdOptions, openEtcdStorage } from "../../src/storage/etcd/etcd-storage.ts";
import { type EtcdCluster, etcdOptions, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { peerLatency } from "../support/peer-latency.ts";
import { rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { quietControllers, startTestServer } from "../support/start-test-server.ts";
import { eventually, until } from "../support/until.ts";
import { checkHistory } from "./linearizability/check-history.ts";
import { configMaps, namespace, runClients, seenOf } from "./linearizability/clients.ts";
import { startFaultyCluster } from "./linearizability/cluster.ts";
import type { Operation } from "./linearizability/history.ts";
import { startInformer } from "./linearizability/informer.ts";
import { faultKinds, startNemesis } from "./linearizability/nemesis.ts";
import { observe } from "./linearizability/observe.ts";
import { type PlantedFault, plantedFaults, withFault } from "./linearizability/planted-faults.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const operationsMax = Number(process.env.OPERATIONS ?? (isFull ? 100_000 : 1_000));
const keys = Array.from({ length: 8 }, (_, at) => `k${at}`);

describe("linearizability", { skip: skipWithoutEtcd }, () => {
  test(`of three servers over three members that fail (SEED=${seed})`, async (t) => {
    const random = seededRandom(seed);
    const cluster = await startFaultyCluster(3);
    t.after(() => cluster.close());
    const { replicas, etcd } = cluster;
    const observer = await observe({ ...etcdOptions, servers: etcd.urls });
    t.after(() => observer.close());
    await replicas[0]?.client?.send({
      method: "POST",
      path: "/api/v1/namespaces",
      body: { metadata: { name: namespace } },
    });
    // Half of them use one server, and need history after it was killed; the others use any.
    const informers = Array.from({ length: 6 }, (_, at) =>
      startInformer({ name: `i${at}`, replicas: at < 3 ? replicas.slice(at, at + 1) : replicas, random }),
    );
    t.after(() => {
      for (const informer of informers) informer.stop();
    });
    const operations: Operation[] = [];
    // In the small size, faults and requests wait for each other: their numbers do not depend on time.
    const perFault = Math.ceil(operationsMax / (faultKinds + 2));
    const nemesis = startNemesis({
      cluster,
      random,
      compact: () => observer.storage.compact(observer.revision).catch(() => {}),
      ...(!isFull && { calm: (begun) => until(() => operations.length >= begun * perFault) }),
    });
    let time = 0;
    const startedAt = Date.now();
    await runClients({
      replicas,
      random,
      keys,
      clients: 12,
      operations: operationsMax,
      tick: () => ++time,
      ...(!isFull && { pace: (sent) => until(() => nemesis.counts.size >= Math.floor(sent / perFault) - 1) }),
      record: (operation) => void operations.push(operation),
    });
    const seconds = (Date.now() - startedAt) / 1000;
    await nemesis.stop();
    if (!isFull) assert.equal(nemesis.counts.size, faultKinds);
    for (const { crashed, log } of replicas) assert.ok(!crashed, `a server ended by itself: ${log}`);
    const client = replicas[0]?.client;
    assert.ok(client !== undefined);
    const { body } = await client.send({ path: configMaps });
    const newest = Number(body.metadata.resourceVersion);
    const last = observer.changes.findLast(({ revision }) => revision <= newest)?.revision ?? 0;
    const listed = body.items.map(seenOf);
    await observer.storage.current(); // Requests progress.
    await eventually(
      () => "the observer has all changes",
      () => observer.revision >= newest,
    );
    for (const [at, informer] of informers.entries())
      await eventually(
        () =>
          `informer ${at} has all changes: ${informer.state}, not ${last}\n${replicas.map(({ log }) => log.slice(-2_000)).join("\n")}`,
        () => informer.revision >= last,
      );
    for (const { store } of informers)
      assert.deepEqual(
        [...store.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ key, revision }) => `${key}@${revision}`),
        listed.map(({ key, revision }: { key: string; revision: number }) => `${key}@${revision}`),
      );
    const delivered = informers.flatMap((informer) => informer.delivered);
    assert.deepEqual(checkHistory(observer.changes, operations, delivered), []);
    const known = operations.filter(({ answer }) => answer.kind !== "unknown").length;
    const faults = [...nemesis.counts].map(([name, count]) => `${count} × ${name}`).join(", ");
    t.diagnostic(
      `${operations.length} operations (${known} with a known outcome) in ${seconds} s; ${observer.changes.length} changes; ${delivered.length} lists of informers; ${faults}`,
    );
  });

  describe("the check finds", () => {
    let etcd: EtcdCluster;
    before(async () => {
      etcd = await startEtcd();
    });
    after(() => etcd.close());
    for (const [what, { fault, found }] of Object.entries(plantedFaults))
      test(`${what} (SEED=${seed})`, async (t) => {
        const isFound = (violations: string[]): boolean => violations.some((violation) => found.test(violation));
        const violations = await checkWithFault(t, storeOf(etcd), fault, isFound);
        assert.ok(isFound(violations), violations.join("\n"));
      });

    test(`nothing without a fault (SEED=${seed})`, async (t) =>
      assert.deepEqual(await checkWithFault(t, storeOf(etcd), () => ({})), []));
  });
});

let stores = 0;

/** Options of an empty store in the cluster. */
const storeOf = ({ urls }: EtcdCluster): EtcdOptions => ({
  ...etcdOptions,
  servers: urls,
  prefix: `/store${stores++}`,
});

/** How many requests find a planted fault, and after how many it is checked whether they have. */
const plantedOperations = { most: 300, round: isFull ? 300 : 60 };

/**
 * Two servers in this process over one store, which has the fault.
 * @param isFound ends the requests; unset: all are sent
 */
async function checkWithFault(
  t: TestContext,
  store: EtcdOptions,
  fault: PlantedFault,
  isFound?: (violations: string[]) => boolean,
): Promise<string[]> {
  const random = seededRandom(seed);
  const observer = await observe(store);
  t.after(() => observer.close());
  const replicas: Awaited<ReturnType<typeof startFaultyReplica>>[] = [];
  t.after(() => Promise.all(replicas.map((replica) => replica.close())));
  for (let at = 0; at < 2; at++) replicas.push(await startFaultyReplica(store, fault, random));
  await replicas[0]?.client.send({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { name: namespace } },
  });
  const informers = [0, 1].map((at) => startInformer({ name: `i${at}`, replicas, random }));
  await eventually(
    () => "the informers have listed",
    () => informers.every(({ delivered }) => delivered.length > 0),
  );
  const operations: Operation[] = [];
  let time = 0;
  const { most, round } = plantedOperations;
  const check = async (count: number): Promise<string[]> => {
    await runClients({
      replicas,
      random,
      keys: keys.slice(0, 3),
      clients: 6,
      firstId: operations.length,
      operations: count,
      tick: () => ++time,
      record: (operation) => void operations.push(operation),
    });
    const newest = await observer.storage.current();
    await eventually(
      () => "the observer has all changes",
      () => observer.revision >= newest,
    );
    await peerLatency(300); // Informers may receive the last events; the check allows missing ones.
    return checkHistory(
      observer.changes,
      operations,
      informers.flatMap(({ delivered }) => delivered),
    );
  };
  let violations: string[] = [];
  for (const count of isFound === undefined ? [most] : Array.from({ length: most / round }, () => round)) {
    violations = await check(count);
    if (isFound?.(violations)) break;
  }
  for (const informer of informers) informer.stop();
  return violations;
}

async function startFaultyReplica(store: EtcdOptions, fault: PlantedFault, random: (below: number) => number) {
  const storage = await openEtcdStorage(store);
  const server = await startTestServer(
    { storageMediaType: "application/json", controllers: quietControllers },
    withFault(storage, fault, random),
  );
  const client = rawClient(server.kubeconfig);
  const watch = { port: Number(new URL(server.url).port), ...credentialsOf(server.kubeconfig) };
  return {
    client,
    watch,
    async close() {
      client.close();
      await server.close();
      await storage.close();
    },
  };
}
