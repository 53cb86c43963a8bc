/** What a server over etcd reports about its clusters, and when it is ready. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import { openEtcdStorage } from "../../src/storage/etcd/etcd-storage.ts";
import { type EtcdOverride, etcdDefaults } from "../../src/storage/etcd/options.ts";
import { type EtcdCluster, etcdOptions, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

async function etcdOf(t: TestContext): Promise<EtcdCluster> {
  const cluster = await startEtcd();
  t.after(() => cluster.close());
  return cluster;
}

async function serverOf(
  t: TestContext,
  { urls: servers }: EtcdCluster,
  { overrides = [], ...options }: Partial<ServerOptions> & { overrides?: readonly EtcdOverride[] },
): Promise<RawClient> {
  const server = await startTestServer({
    storage: "etcd",
    etcd: { ...etcdDefaults, servers, overrides },
    ...options,
  });
  t.after(() => server.close());
  const client = rawClient(server.kubeconfig);
  t.after(() => client.close());
  return client;
}

const readiness = "poststarthook/storage-readiness";
const linesOf = async (client: RawClient, path: string): Promise<string[]> =>
  (await client.send({ path })).text.split("\n");

test("each cluster has its own checks, and a component for each override", { skip: skipWithoutEtcd }, async (t) => {
  const [main, other] = [await etcdOf(t), await etcdOf(t)];
  const overrides = ["podtemplates", "limitranges"].map((resource) => ({ group: "", resource, servers: other.urls }));
  const client = await serverOf(t, main, { overrides });
  const checks = async (endpoint: string): Promise<string[]> =>
    (await linesOf(client, `/${endpoint}?verbose`)).filter((line) => line.includes("etcd"));
  const components = async (): Promise<unknown[][]> => {
    const { body } = await client.send({ path: "/api/v1/componentstatuses" });
    return (body.items as { metadata: { name: string }; conditions: Record<string, string>[] }[])
      .filter(({ metadata }) => metadata.name.startsWith("etcd"))
      .map(({ metadata, conditions }) => [metadata.name, conditions[0]?.status, conditions[0]?.message]);
  };
  const readable = ["[+]etcd ok", "[+]etcd-override-0 ok"];
  assert.deepEqual(await checks("livez"), readable);
  const writable = ["[+]etcd-readiness ok", "[+]etcd-override-0 ok", "[+]etcd-override-readiness-0 ok"];
  assert.deepEqual(await checks("readyz"), ["[+]etcd ok", ...writable]);
  const healthy = ["etcd-0", "etcd-1", "etcd-2"].map((name) => [name, "True", "ok"]);
  assert.deepEqual(await components(), healthy);
  assert.equal((await client.send({ path: "/api/v1/componentstatuses/etcd-3" })).status, 404);

  const [member] = other.members;
  await member?.kill();
  assert.deepEqual(await checks("livez"), ["[+]etcd ok", "[-]etcd-override-0 failed: reason withheld"]);
  assert.equal((await client.send({ path: "/livez/etcd" })).status, 200);
  assert.equal((await client.send({ path: "/livez?exclude=etcd" })).status, 200);
  assert.deepEqual(await components(), [healthy[0], ["etcd-1", "False", undefined], ["etcd-2", "False", undefined]]);
  const { body } = await client.send({ path: "/api/v1/componentstatuses/etcd-1" });
  assert.match(body.conditions[0].error, /^error getting data from etcd: rpc error: code = Unavailable desc = /);
  await member?.start();
  await eventually("the cluster is healthy", async () => (await client.send({ path: "/readyz" })).status === 200);
});

const broken = "/registry/podtemplates/default/broken";

/** Writes the key, or deletes it. */
async function setBroken({ urls: servers }: EtcdCluster, value: Buffer | null): Promise<void> {
  const storage = await openEtcdStorage({ ...etcdOptions, servers });
  await storage.commit([], [{ key: broken, value }]);
  await storage.close();
}

test("is ready when the caches of all resources are loaded", { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await etcdOf(t);
  await setBroken(etcd, Buffer.from("no object"));
  const client = await serverOf(t, etcd, { storageInitializationTimeoutMs: 600_000 });
  const last = `[-]${readiness} failed: reason withheld`;
  assert.ok((await linesOf(client, "/readyz")).includes(last));
  assert.equal((await client.send({ path: `/readyz/${readiness}` })).text, "internal server error: not finished\n");
  await setBroken(etcd, null);
  await eventually("it is ready", async () => (await client.send({ path: "/readyz" })).status === 200);
  const loaded = /^apiserver_watch_cache_initializations_total\{group="",resource="limitranges"\} 1$/m;
  assert.match((await client.send({ path: "/metrics" })).text, loaded);
});

test("is ready without some caches after the timeout", { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await etcdOf(t);
  await setBroken(etcd, Buffer.from("no object"));
  const client = await serverOf(t, etcd, { storageInitializationTimeoutMs: 1 });
  await eventually("it is ready", async () => (await client.send({ path: "/readyz" })).status === 200);
  assert.ok((await linesOf(client, "/readyz?verbose")).includes(`[+]${readiness} ok`));
  assert.equal((await client.send({ path: "/api/v1/podtemplates" })).status, 500);
});
