/**
 * Two servers whose etcd is replaced by an older backup: both notice it, caches are loaded again, and
 * clients list again, so that no object of the newer history stays.
 */
import assert from "node:assert/strict";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { copyMemberData, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";
import { configMaps, namespace, seenOf } from "./linearizability/clients.ts";
import type { Seen } from "./linearizability/history.ts";
import { startInformer } from "./linearizability/informer.ts";

/** More than servers write until a client has noticed the restored state, whose revisions overtake the lost ones later. */
const lostWrites = 200;

const show = ({ key, by }: Seen): string => `${key}=${by}`;

const mapOf = (name: string, by: string): object => ({ metadata: { name }, data: { by } });

async function create(client: RawClient, name: string, by: string): Promise<void> {
  const body = mapOf(name, by);
  assert.equal((await client.send({ method: "POST", path: configMaps, body })).status, 201);
}

async function replace(client: RawClient, name: string, by: string): Promise<void> {
  const body = mapOf(name, by);
  assert.equal((await client.send({ method: "PUT", path: `${configMaps}/${name}`, body })).status, 200);
}

async function list(client: RawClient, query = ""): Promise<string[]> {
  const { status, body, text } = await client.send({ path: configMaps + query });
  return status === 200 ? body.items.map(seenOf).map(show) : [text];
}

test("an older backup of etcd is restored", { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await startEtcd();
  t.after(() => etcd.close());
  const [member] = etcd.members;
  const servers = await Promise.all(
    [0, 1].map(() => startTestServer({ storage: "etcd", etcd: { ...etcdDefaults, servers: etcd.urls } })),
  );
  t.after(() => Promise.all(servers.map((server) => server.close())));
  const clients = servers.map(({ kubeconfig }) => rawClient(kubeconfig));
  t.after(() => clients.map((client) => client.close()));
  const [first, second] = clients as [RawClient, RawClient];
  await first.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  await create(first, "kept", "old");
  const informers = servers.map(({ url, kubeconfig }, at) => {
    const watch = { port: Number(new URL(url).port), ...credentialsOf(kubeconfig) };
    const client = clients[at];
    return startInformer({ name: `i${at}`, replicas: [{ client, watch }], random: () => 0 });
  });
  t.after(() => informers.map((informer) => informer.stop()));

  const [data, copy] = [join(etcd.directory, "m0"), join(etcd.directory, "copy")];
  await member?.kill();
  copyMemberData(data, copy);
  await member?.start();
  await eventually("writes work", async () => (await first.send({ path: configMaps })).status === 200);
  await replace(first, "kept", "new");
  for (let at = 0; at < lostWrites; at++) await create(second, `lost-${at}`, "new");
  for (const { store } of informers) await eventually("it has all objects", async () => store.size === lostWrites + 1);

  await member?.kill();
  rmSync(data, { recursive: true });
  renameSync(copy, data);
  await member?.start();
  for (const client of clients) {
    await eventually("a consistent list", async () => (await list(client)).join() === "kept=old");
    await eventually(
      "a list of the cache",
      async () => (await list(client, "?resourceVersion=0")).join() === "kept=old",
    );
    assert.equal((await client.send({ path: `${configMaps}/lost-3` })).status, 404);
  }
  await create(first, "added", "after");
  for (const informer of informers) {
    const objects = (): string => [...informer.store.values()].map(show).sort().join();
    const isCurrent = async (): Promise<boolean> => objects() === "added=after,kept=old";
    await eventually("the informer has the objects of the store", isCurrent).catch((error: Error) => {
      throw new Error(`${error.message}: it ${informer.state} and ${objects()}`);
    });
  }
});
