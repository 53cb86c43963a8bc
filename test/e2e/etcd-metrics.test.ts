/** The metrics of a server whose objects are in two clusters of etcd: requests, progress, leases and sizes. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { defaultMetricsOptions } from "../../src/metrics/default-options.ts";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

interface Setup {
  readonly main: EtcdCluster;
  readonly leases: EtcdCluster;
  readonly server: TestServer;
  readonly client: RawClient;
}

async function setUp(): Promise<Setup> {
  const [main, leases] = await Promise.all([startEtcd(), startEtcd()]);
  const overrides = ["leases", "leasecandidates"].map((resource) => ({
    ...{ group: "coordination.k8s.io", resource },
    servers: leases.urls,
  }));
  const server = await startTestServer({
    storage: "etcd",
    etcd: { ...etcdDefaults, servers: main.urls, overrides },
    objectCountPollMs: 200,
    metrics: { ...defaultMetricsOptions, showHiddenForVersion: "1.35" },
  });
  return { main, leases, server, client: rawClient(server.kubeconfig) };
}

const setup = skipWithoutEtcd === false ? await setUp() : undefined;
after(async () => {
  setup?.client.close();
  await setup?.server.close();
  await Promise.all([setup?.main.close(), setup?.leases.close()]);
});

const { client, main, leases } = setup ?? ({} as Setup);
const configMaps = "/api/v1/namespaces/default/configmaps";
/** No controller writes these. */
const secrets = "/api/v1/namespaces/default/secrets";

async function scrape(): Promise<string> {
  const answer = await client.send({ path: "/metrics" });
  assert.equal(answer.status, 200);
  return answer.text;
}

/** The value of a series; 0 without it. */
function seriesValue(text: string, series: string): number {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

const requestsOf = (text: string, operation: string, resource: string, group = ""): number =>
  seriesValue(text, `etcd_requests_total{operation="${operation}",group="${group}",resource="${resource}"}`);

test("counts the requests of each operation and resource", { skip: skipWithoutEtcd }, async () => {
  const body = { metadata: { name: "a" } };
  const before = await scrape();
  await client.send({ method: "POST", path: secrets, body });
  await client.send({ method: "POST", path: secrets, body });
  await client.send({ method: "PUT", path: `${secrets}/a`, body: { ...body, stringData: { x: "y" } } });
  await client.send({ method: "DELETE", path: `${secrets}/a` });
  const text = await scrape();
  const more = (operation: string): number =>
    requestsOf(text, operation, "secrets") - requestsOf(before, operation, "secrets");
  assert.deepEqual(["create", "update", "delete"].map(more), [2, 1, 1]);
  assert.ok(requestsOf(text, "list", "secrets") >= 1);
  assert.ok(requestsOf(text, "create", "leases", "coordination.k8s.io") >= 1, "the Lease of the server");
  assert.ok(requestsOf(text, "get", "apiServerIPInfo") + requestsOf(text, "list", "apiServerIPInfo") >= 1);
  const labels = 'operation="create",group="",resource="secrets"';
  const created = requestsOf(text, "create", "secrets");
  assert.equal(seriesValue(text, `etcd_request_duration_seconds_count{${labels}}`), created);
  assert.equal(seriesValue(text, `etcd_request_duration_seconds_bucket{${labels},le="+Inf"}`), created);
  assert.ok(seriesValue(text, `etcd_request_duration_seconds_sum{${labels}}`) > 0);
  assert.equal(seriesValue(text, `etcd_request_errors_total{${labels}}`), 0);
});

test("counts what the cluster confirms to the watches of each resource", { skip: skipWithoutEtcd }, async () => {
  const series = '{group="",resource="configmaps"}';
  await eventually("a bookmark arrives", async () => {
    await client.send({ path: configMaps });
    return seriesValue(await scrape(), `etcd_bookmark_total${series}`) > 0;
  });
  const text = await scrape();
  assert.equal(seriesValue(text, `etcd_bookmark_counts${series}`), seriesValue(text, `etcd_bookmark_total${series}`));
  assert.match(text, /^# HELP etcd_bookmark_counts \[ALPHA\] \(Deprecated from 1\.36\) /m);
});

test("counts the objects of leases", { skip: skipWithoutEtcd }, async () => {
  const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
  const path = "/api/v1/namespaces/default/events";
  await client.send({ method: "POST", path, body: { metadata: { name: "a" }, involvedObject } });
  const text = await scrape();
  const count = seriesValue(text, "etcd_lease_object_counts_count");
  assert.ok(count > 0);
  assert.equal(seriesValue(text, 'etcd_lease_object_counts_bucket{le="10"}'), count);
});

test("counts objects that are in no watch cache", { skip: skipWithoutEtcd }, async () => {
  const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
  const path = "/api/v1/namespaces/default/events";
  await client.send({ method: "POST", path, body: { metadata: { name: "b" }, involvedObject } });
  await eventually("all events are counted", async () => {
    const text = await scrape();
    const [count, old] = [
      'apiserver_resource_objects{group="",resource="events"}',
      'apiserver_storage_objects{resource="events"}',
    ];
    const events = (await client.send({ path: "/api/v1/events" })).body.items.length;
    return seriesValue(text, count) === events && seriesValue(text, old) === events;
  });
  assert.doesNotMatch(await scrape(), /_objects\{.*events\.k8s\.io/);
});

test("shows the size of each cluster, in the order of the flags, and of each member", {
  skip: skipWithoutEtcd,
}, async () => {
  const text = await scrape();
  const size = (at: number): number =>
    seriesValue(text, `apiserver_storage_size_bytes{storage_cluster_id="etcd-${at}"}`);
  assert.ok(size(0) > 0 && size(1) > 0);
  assert.equal(size(2), size(1), "the second override has the same cluster");
  assert.doesNotMatch(text, /etcd-3/);
  for (const url of [...main.urls, ...leases.urls])
    await eventually("the size of the member is read", async () => {
      return seriesValue(await scrape(), `apiserver_storage_db_total_size_in_bytes{endpoint="${url}"}`) > 0;
    });
});

test("counts failed requests, and leaves out the size of a cluster that is down", {
  skip: skipWithoutEtcd || skipWithout("full"),
}, async (t) => {
  const [member] = leases.members;
  await member?.kill();
  t.after(() => member?.start());
  const lease = { metadata: { name: "l" } };
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases?timeout=1s";
  assert.equal((await client.send({ method: "POST", path, body: lease })).status, 504);
  const labels = 'operation="create",group="coordination.k8s.io",resource="leases"';
  await eventually("the request of the Lease fails", async () => {
    return seriesValue(await scrape(), `etcd_request_errors_total{${labels}}`) >= 1;
  });
  const text = await scrape();
  assert.match(text, /^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} \d/m);
  assert.doesNotMatch(text, /storage_cluster_id="etcd-[12]"/);
  await eventually("the objects cannot be counted", async () => {
    const shown = await scrape();
    const labels = 'group="coordination.k8s.io",resource="leases"';
    return seriesValue(shown, `apiserver_resource_objects{${labels}}`) === -1;
  });
  assert.ok(seriesValue(await scrape(), 'apiserver_resource_objects{group="",resource="namespaces"}') > 0);
});
