/** Servers that share an etcd find each other by records that expire, as kube-apiservers do. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serverIdentity } from "../../src/apimachinery/server-identity.ts";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { createPeerFiles, type PeerFiles } from "../support/peer-servers.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const jobs = "/apis/batch/v1/namespaces/default/jobs";

describe("servers that share an etcd", { skip: skipWithoutEtcd }, () => {
  let etcd: EtcdCluster;
  let files: PeerFiles;
  const start = (hostname: string, runtimeConfig = ""): Promise<TestServer> =>
    startTestServer({
      ...files.options,
      storage: "etcd",
      etcd: { ...etcdDefaults, servers: etcd.urls },
      hostname,
      runtimeConfig,
    });
  before(async () => {
    [etcd, files] = await Promise.all([startEtcd(), createPeerFiles()]);
  });
  after(async () => {
    await etcd.close();
    files.remove();
  });

  /** The keys of records, and the ids of their leases. */
  const records = async (): Promise<{ key: string; lease: string }[]> => {
    const encode = (text: string): string => Buffer.from(text).toString("base64");
    const prefix = "/registry/peerserverleases/";
    const response = await fetch(`${etcd.urls[0]}/v3/kv/range`, {
      method: "POST",
      body: JSON.stringify({ key: encode(prefix), range_end: encode("/registry/peerserverleases0") }),
    });
    const { kvs = [] } = (await response.json()) as { kvs?: { key: string; lease?: string }[] };
    return kvs.map(({ key, lease = "0" }) => ({
      key: Buffer.from(key, "base64").toString().slice(prefix.length),
      lease,
    }));
  };

  test("one forwards to the other what it lacks, as long as the other runs", async () => {
    const whole = await start("whole");
    const partial = await start("partial", "batch/v1=false");
    const found = await records();
    assert.deepEqual(found.map(({ key }) => key).sort(), [serverIdentity("partial"), serverIdentity("whole")].sort());
    for (const { lease } of found) assert.notEqual(lease, "0");
    const client = rawClient(partial.kubeconfig);
    await eventually("the other is known", async () => (await client.send({ path: jobs })).status === 200);
    await whole.close();
    assert.deepEqual(
      (await records()).map(({ key }) => key),
      [serverIdentity("partial")],
    );
    await eventually("the other is forgotten", async () => (await client.send({ path: jobs })).status === 404);
    client.close();
    await partial.close();
  });
});
