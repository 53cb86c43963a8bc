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
  server = await startTestServer({ clock, controllers: [...podControllers, "token-cleaner-controller"] });
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

test("a client certificate is judged by the time of the clock", async () => {
  const user = http2Client((await server.as("ann", ["system:masters"])).kubeconfig);
  // The certificates of `as` are valid for a day of the real time.
  const ownClock = virtualClock({ now: Date.now() + 86_340_000 });
  const other = await startTestServer({ clock: ownClock });
  const rows: [span: string, status: number][] = [
    ["0s", 200],
    ["10s", 200],
    ["10m", 401],
  ];
  const ann = http2Client((await other.as("ann", ["system:masters"])).kubeconfig);
  const admin = http2Client(other.kubeconfig);
  try {
    assert.equal((await user.send(`GET ${namespace}/configmaps`)).status, 401, "years later");
    for (const [span, status] of rows) {
      await ownClock.advance(span);
      assert.equal((await ann.send(`GET ${namespace}/configmaps`)).status, status, span);
    }
    assert.equal((await admin.send(`GET ${namespace}/configmaps`)).status, 200, "the administrator's is timeless");
  } finally {
    for (const one of [user, ann, admin]) one.close();
    await other.close();
  }
});

test("a bootstrap token and its Secret are gone at the expiration", async () => {
  const secrets = "/api/v1/namespaces/kube-system/secrets";
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  const expiration = new Date(clock.now() + 600_000).toISOString();
  const data = { "token-id": "abcdef", "token-secret": "0123456789abcdef", expiration };
  const { status } = await client.send(`POST ${secrets}`, {
    metadata: { name: "bootstrap-token-abcdef" },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, encode(text)])),
  });
  assert.equal(status, 201);
  await clock.advance("9m59s");
  assert.equal((await client.send(`GET ${secrets}/bootstrap-token-abcdef`)).status, 200);
  await clock.advance("2s");
  assert.equal((await client.send(`GET ${secrets}/bootstrap-token-abcdef`)).status, 404);
});

test("an exact list is too old when the history window is over", async () => {
  const maps = `${namespace}/configmaps`;
  const { body } = await client.send(`POST ${maps}`, { metadata: { name: "old" } });
  await client.send(`POST ${maps}`, { metadata: { name: "newer" } });
  const exact = `${maps}?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
  assert.equal((await client.send(`GET ${exact}`)).status, 200);
  await clock.advance("1h");
  await client.send(`POST ${maps}`, { metadata: { name: "newest" } });
  assert.equal((await client.send(`GET ${exact}`)).status, 410);
});

test("deletion with a grace period is due after the time of the clock", async () => {
  const spec = { containers: [{ name: "c", image: "i" }], nodeName: "n" };
  await client.send(`POST ${namespace}/pods`, { metadata: { name: "graceful" }, spec });
  const { body } = await client.send(`DELETE ${namespace}/pods/graceful?gracePeriodSeconds=30`);
  assert.equal(Date.parse(body.metadata.deletionTimestamp), Math.floor(clock.now() / 1000) * 1000 + 30_000);
});
