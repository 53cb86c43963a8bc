/**
 * A server while its etcd is down: reads that may be stale are served, others and writes fail with
 * upstream's errors, health checks name the reason, and all of it ends when etcd is back.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { eventually } from "../support/collector-cluster.ts";
import { skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { type Answer, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { configMaps, namespace } from "./linearizability/clients.ts";
import { startInformer } from "./linearizability/informer.ts";

const message =
  /^rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 127\.0\.0\.1:\d+: connect: connection refused"$/;
const map = (name: string): object => ({ metadata: { name }, data: { by: name } });

test("etcd goes down and comes back", { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await startEtcd();
  t.after(() => etcd.close());
  const server = await startTestServer({ storage: "etcd", etcd: { ...etcdDefaults, servers: etcd.urls } });
  t.after(() => server.close());
  const client = rawClient(server.kubeconfig);
  t.after(() => client.close());
  const [member] = etcd.members;
  const post = (path: string, body: object): Promise<Answer> => client.send({ method: "POST", path, body });
  await post("/api/v1/namespaces", { metadata: { name: namespace } });
  assert.equal((await post(configMaps, map("a"))).status, 201);
  const watch = { port: Number(new URL(server.url).port), ...credentialsOf(server.kubeconfig) };
  const informer = startInformer({ name: "i", replicas: [{ client, watch }], random: () => 0 });
  t.after(() => informer.stop());
  await eventually("the informer has listed", async () => informer.store.has("a"));

  await member?.kill();
  for (const path of [`${configMaps}?resourceVersion=0`, `${configMaps}/a?resourceVersion=0`])
    assert.equal((await client.send({ path })).status, 200, path);
  const failing = await Promise.all([
    client.send({ path: configMaps }),
    client.send({ path: `${configMaps}/a` }),
    post(configMaps, map("b")),
    client.send({ method: "PUT", path: `${configMaps}/a`, body: map("a") }),
    client.send({ method: "DELETE", path: `${configMaps}/a` }),
  ]);
  for (const { body } of failing) {
    assert.match(body.message, message);
    assert.deepEqual([body.code, body.status, body.reason], [500, "Failure", undefined]);
  }
  const ready = await client.send({ path: "/readyz" });
  assert.equal(ready.status, 500);
  assert.match(ready.text, /^\[-\]etcd failed: reason withheld$/m);
  assert.match(ready.text, /^\[-\]etcd-readiness failed: reason withheld$/m);
  assert.match(
    (await client.send({ path: "/readyz/etcd" })).text,
    /^internal server error: rpc error: code = Unavailable/,
  );
  assert.equal((await client.send({ path: "/readyz/ping" })).status, 200);

  await member?.start();
  await eventually("writes work", async () => (await post(configMaps, map("c"))).status === 201);
  await eventually("the watch goes on", async () => informer.store.has("c"));
  assert.equal((await client.send({ path: configMaps })).body.items.length, 2 + (informer.store.has("b") ? 1 : 0));
  await eventually("it is ready", async () => (await client.send({ path: "/readyz" })).status === 200);
  assert.equal(informer.delivered.length, 1, "no second list was needed");
});
