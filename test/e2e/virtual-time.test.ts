/** A virtual clock through a real server: what follows the time of a test. No row waits for real time. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type VirtualClock, virtualClock } from "../../src/testing/virtual-clock.ts";
import { type Http2Client, http2Client } from "../support/http2-client.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";

const namespace = "/api/v1/namespaces/default";
const startMs = Date.UTC(2030, 0);

let clock: VirtualClock;
let server: TestServer;
let client: Http2Client;

before(async () => {
  clock = virtualClock({ now: startMs });
  server = await startTestServer({ clock, controllers: podControllers });
  client = http2Client(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

test("an object is created at the time of the clock", async () => {
  const { status, body } = await client.send(`POST ${namespace}/configmaps`, { metadata: { name: "created" } });
  assert.equal(status, 201);
  assert.equal(body.metadata.creationTimestamp, new Date(clock.now()).toISOString().replace(".000Z", "Z"));
});

test("an Event is deleted when its hour is over, and a watcher is notified", async () => {
  const regarding = { kind: "ConfigMap", namespace: "default", name: "x" };
  const event = { metadata: { name: "short" }, involvedObject: regarding, reason: "Test" };
  const { body } = await client.send(`POST ${namespace}/events`, event);
  const deleted = Promise.withResolvers<string>();
  const query = `watch=1&timeoutSeconds=7200&resourceVersion=${body.metadata.resourceVersion}`;
  const stop = client.watch(`${namespace}/events?${query}`, ({ type, object }) =>
    deleted.resolve(`${type} ${object.metadata.name}`),
  );
  await clock.advance("59m59s");
  assert.equal((await client.send(`GET ${namespace}/events/short`)).status, 200);
  await clock.advance("1s");
  assert.equal((await client.send(`GET ${namespace}/events/short`)).status, 404);
  assert.equal(await deleted.promise, "DELETED short");
  stop();
});

test("a token of a service account is rejected after its time", async () => {
  await client.send(`POST ${namespace}/serviceaccounts`, { metadata: { name: "short" } });
  const { body } = await client.send(`POST ${namespace}/serviceaccounts/short/token`, {
    spec: { expirationSeconds: 600 },
  });
  const { token, expirationTimestamp } = body.status;
  assert.equal(Date.parse(expirationTimestamp), Math.floor(clock.now() / 1000) * 1000 + 600_000);
  const review = async (): Promise<boolean | undefined> => {
    const answer = await client.send("POST /apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } });
    return answer.body.status.authenticated;
  };
  assert.equal(await review(), true);
  await clock.advance("9m59s");
  assert.equal(await review(), true);
  await clock.advance("1m1s"); // Tokens are accepted for a minute after their time.
  assert.equal(await review(), undefined);
});

test("a server renews its Lease", async () => {
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  const renewed = async (): Promise<number> =>
    Date.parse(
      (await client.send(`GET ${leases}?labelSelector=apiserver.kubernetes.io/identity=kube-apiserver`)).body.items[0]
        .spec.renewTime,
    );
  const before = await renewed();
  await clock.advance("1h");
  const age = clock.now() - (await renewed());
  assert.ok(age >= 0 && age <= 20 * 60_000, `${age} ms old`);
  assert.ok((await renewed()) > before);
});

test("a watch ends at its timeout", async () => {
  const ended = Promise.withResolvers<void>();
  client.watch(`${namespace}/configmaps?watch=1&timeoutSeconds=300`, () => {}, ended.resolve);
  await clock.advance("5m");
  await ended.promise;
});
