/**
 * The Lease of a server's identity, whose renewals make an idle server's revision increase: clients that continue a
 * list after its first state has expired see that they read another one.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type RunningServer, startServer } from "../../src/index.ts";
import { startTestServer, type VirtualClock, virtualClock } from "../../src/testing/index.ts";
import { rawClient } from "../support/raw-client.ts";

const minute = 60_000;

/** @returns how much the revision of a list increases in a minute without requests */
async function increaseIn(server: RunningServer, clock: VirtualClock): Promise<number> {
  const client = rawClient(server.kubeconfig);
  const revision = async (): Promise<number> => {
    const { body } = await client.send({ path: "/api/v1/namespaces/default/configmaps" });
    return Number(body.metadata.resourceVersion);
  };
  try {
    const before = await revision();
    await clock.advance(minute);
    return (await revision()) - before;
  } finally {
    client.close();
    await server.close();
  }
}

test("an idle server renews its Lease every 10 seconds", async () => {
  const clock = virtualClock();
  assert.equal(await increaseIn(await startServer({ clock }), clock), 5);
});

test("the revision of an idle server of the test kit does not increase", async () => {
  const clock = virtualClock();
  assert.equal(await increaseIn(await startTestServer({ clock }), clock), 0);
});

test("a server of the test kit renews its Lease as often as a test says", async () => {
  const clock = virtualClock();
  assert.equal(await increaseIn(await startTestServer({ clock, identityRenewMs: 5_000 }), clock), 11);
});
