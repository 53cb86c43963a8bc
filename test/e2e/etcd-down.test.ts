/**
 * A server while its etcd is down: reads that may be stale are served, others and writes wait, and fail
 * with upstream's errors at the limit of requests, health checks name the reason, and all of it ends
 * when etcd is back.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { type Answer, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";
import { answersWhileDown, faults, type Row } from "./etcd-down/answers.ts";
import { configMaps, namespace } from "./linearizability/clients.ts";
import { startInformer } from "./linearizability/informer.ts";

const map = (name: string): object => ({ metadata: { name }, data: { by: name } });

/** Long enough for the requests that are answered at once. */
const limit = "20s";
const recorded: Row[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "etcd-down", "testdata", "answers.json"), "utf8"),
);
const late = /Timeout: request did not complete within (?:the allotted|requested) timeout/;

/** An answer without the differences that docs/compatibility/storage.md lists. */
function comparable({ fault, request, status, contentType, retryAfter, answer }: Row): unknown {
  const text = JSON.stringify(answer ?? "");
  // Upstream's limit of a request either answers it or closes its connection. The recorded requests had the limits of the server, which
  // have another text for writes.
  const isLate = text.includes("socket hang up") || late.test(text);
  // A ping that is not answered ends a write that was sent, if it fails before the limit.
  const isDropped = fault === "stopped" && /Connection dropped|ping failed/.test(text);
  if (isDropped || isLate) return { request, status: 504, message: "late" };
  return { request, status, contentType, retryAfter, answer: text.replace(/(from etcd: ).*/, "$1REASON") };
}

// Most of their time is spent waiting.
describe("answers without etcd", { concurrency: true }, () => {
  for (const fault of faults)
    test(`answers while etcd is ${fault} are upstream's`, { skip: skipWithoutEtcd }, async (t) => {
      const etcd = await startEtcd();
      t.after(() => etcd.close());
      const server = await startTestServer({ storage: "etcd", etcd: { ...etcdDefaults, servers: etcd.urls } });
      t.after(() => server.close());
      const client = rawClient(server.kubeconfig);
      t.after(() => client.close());
      const settled = (): Promise<unknown> =>
        eventually("the server has noticed", async () => (await client.send({ path: "/livez/etcd" })).status === 500);
      const rows = await answersWhileDown(client, etcd, { fault, settled, timeout: limit });
      const expected = recorded.filter((row) => row.fault === fault);
      assert.deepEqual(rows.map(comparable), expected.map(comparable));
    });
});

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
  await eventually("it is not ready", async () => (await client.send({ path: "/readyz" })).status === 500);
  assert.match(
    (await client.send({ path: "/readyz/etcd" })).text,
    /^internal server error: error getting data from etcd: ./,
  );
  const waiting = [post(configMaps, map("waits")), client.send({ path: `${configMaps}/a` })];

  await member?.start();
  assert.deepEqual(await Promise.all(waiting.map(async (answer) => (await answer).status)), [201, 200]);
  await eventually("writes work", async () => (await post(configMaps, map("c"))).status === 201);
  await eventually("the watch goes on", async () => informer.store.has("c"));
  assert.equal((await client.send({ path: configMaps })).body.items.length, 3);
  await eventually("it is ready", async () => (await client.send({ path: "/readyz" })).status === 200);
  assert.equal(informer.delivered.length, 1, "no second list was needed");
});
