/**
 * Checks of the watch caches over a store that servers share. Guarantees: equal caches are counted as such; when a cache has missed a change, open watches end with 410, and later reads show the change.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Closers } from "../../src/server/closers.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { http2Client, type WatchEvent } from "../support/http2-client.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { remoteStorage } from "../support/remote-storage.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
/** The longest time between two checks. */
const intervalMs = 450_000;

/** @returns a client, which is closed with the server at the end */
function clientOf(opened: Closers, server: TestServer): RawClient {
  opened.add(() => server.close());
  const client = rawClient(server.kubeconfig);
  opened.add(() => client.close());
  return client;
}

/** Closes the store, which is opened first, last. */
async function openStore(t: TestContext): Promise<{ shared: Storage; opened: Closers }> {
  const opened = new Closers();
  t.after(() => opened.close());
  const shared = await openSharedStorage();
  opened.add(() => shared.close());
  return { shared, opened };
}

/** The number of checks of the ConfigMaps with a result. */
async function checks(client: RawClient, status: string): Promise<number> {
  const { text } = await client.send({ path: "/metrics" });
  const labels = `group="",resource="configmaps",status="${status}"`;
  const [, value] =
    new RegExp(`^apiserver_storage_consistency_checks_total\\{${labels}\\} (\\d+)$`, "m").exec(text) ?? [];
  return Number(value ?? 0);
}

test("caches of a shared store are compared with it", async (t) => {
  const clock = manualClock(Date.now());
  const { shared, opened } = await openStore(t);
  const client = clientOf(opened, await startTestServer({ clock }, shared));
  for (const name of ["a", "b"]) await client.send({ method: "POST", path: configMaps, body: { metadata: { name } } });
  for (const count of [1, 2]) {
    clock.advance(intervalMs);
    await eventually("the check", async () => (await checks(client, "success")) === count);
  }
  assert.deepEqual([await checks(client, "failure"), await checks(client, "error")], [0, 0]);
});

test("no cache is compared without the gate", async (t) => {
  const clock = manualClock(Date.now());
  const { shared, opened } = await openStore(t);
  const client = clientOf(
    opened,
    await startTestServer({ clock, featureGates: "DetectCacheInconsistency=false" }, shared),
  );
  await client.send({ path: configMaps });
  clock.advance(2 * intervalMs);
  await client.send({ path: configMaps });
  assert.equal(await checks(client, "success"), 0);
});

test("a cache that missed a change is loaded again, and its watches end with 410", async (t) => {
  const { shared, opened } = await openStore(t);
  const { storage, hideEvents } = remoteStorage(shared);
  const clock = manualClock(Date.now());
  const other = clientOf(opened, await startTestServer({ hostname: "other" }, shared));
  const server = await startTestServer({ hostname: "checked", clock }, storage);
  const client = clientOf(opened, server);
  await client.send({ path: configMaps });
  const events: WatchEvent[] = [];
  const watching = http2Client(server.kubeconfig);
  opened.add(() => watching.close());
  watching.watch(`${configMaps}?watch=1`, (event) => events.push(event));
  await other.send({ method: "POST", path: configMaps, body: { metadata: { name: "seen" } } });
  await eventually("the event", async () => events.some(({ object }) => object.metadata?.name === "seen"));
  hideEvents();
  await other.send({ method: "POST", path: configMaps, body: { metadata: { name: "missed" } } });
  assert.equal((await client.send({ path: `${configMaps}/missed` })).status, 404);
  clock.advance(intervalMs);
  await eventually("the check", async () => (await checks(client, "failure")) === 1);
  await eventually("the end of the watch", async () => events.at(-1)?.type === "ERROR");
  assert.equal(events.at(-1)?.object.code, 410);
  assert.equal((await client.send({ path: `${configMaps}/missed` })).status, 200);
});
