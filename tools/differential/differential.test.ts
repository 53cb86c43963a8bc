/**
 * Two servers of the sources answer alike in every area, and a planted difference is found in each. In the full size, a
 * kube-apiserver is the other server.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../test/support/start-test-server.ts";
import { skipWithoutUpstream } from "../../test/support/upstream-programs.ts";
import { allAreas, makeSequence } from "./all-areas.ts";
import { openConnection } from "./connection.ts";
import { plantIn } from "./plant.ts";
import { exchange, findDifference, type Servers } from "./sequence-run.ts";
import { startWebhook, type Webhook } from "./webhook.ts";

const seed = 1;
const fullRequests = 20_000;
let started: TestServer[] = [];
let webhook: Webhook;
let servers: Servers;

before(async () => {
  const options = { controllers: [], featureGates: "CBORServingAndStorage=true" };
  started = [await startTestServer(options), await startTestServer(options)];
  webhook = await startWebhook();
  const [ours, theirs] = started.map(({ kubeconfig }) => openConnection(kubeconfig)) as [
    Servers["ours"],
    Servers["theirs"],
  ];
  servers = { ours, theirs, webhook };
});

after(async () => {
  servers.ours.close();
  servers.theirs.close();
  await webhook.close();
  for (const server of started) await server.close();
});

for (const [at, area] of allAreas.entries())
  test(`finds a planted difference in the area ${area.name}, and no other`, async () => {
    const pairs = await exchange(servers, makeSequence(area, seed, 0), `area-${at}`);
    assert.equal(findDifference(area, pairs), undefined);
    assert.equal(findDifference(area, pairs, plantIn(area, at))?.step, pairs[1]?.at);
  });

test("sequences depend on seed, area and index alone", () => {
  for (const area of allAreas) {
    assert.deepEqual(makeSequence(area, seed, 3), makeSequence(area, seed, 3));
    assert.notDeepEqual(makeSequence(area, seed, 3), makeSequence(area, seed + 1, 3));
  }
});

test(`differs from kube-apiserver in ${fullRequests} requests only for known causes`, {
  skip: skipWithoutUpstream("kube-apiserver"),
}, () => {
  const args = [join(import.meta.dirname, "main.ts"), "--requests", String(fullRequests)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
});
