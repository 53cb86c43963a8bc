/** The timeline of the test kit, filled by real requests. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startTestServer, type TestServer, type TimelineEntry, type TimelineRequest } from "../../src/testing/index.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { quietControllers } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

const requests = (entries: readonly TimelineEntry[]): TimelineRequest[] =>
  entries.filter((entry): entry is TimelineRequest => entry.kind === "request");

describe("timeline", () => {
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    // The controller of aggregated roles writes after the start of the first server with these options.
    server = await startTestServer({ controllers: [...quietControllers, "-clusterrole-aggregation-controller"] });
    client = rawClient(server.kubeconfig);
  });
  after(async () => {
    client.close();
    await server.close();
  });

  /** The entries of requests that were sent by `run`. */
  async function during(run: () => Promise<unknown>): Promise<TimelineRequest[]> {
    const since = server.timeline.mark();
    await run();
    return requests(server.timeline.entries({ since }));
  }

  test("the start of the server is not part of it", () => {
    assert.deepEqual(server.timeline.entries(), []);
  });

  test("records requests with what they changed", async () => {
    const headers = { "user-agent": "test/1" };
    const object = { metadata: { name: "a" }, data: { k: "1" } };
    const sent = await during(async () => {
      await client.send({ method: "POST", path: configMaps, headers, body: object });
      await client.send({ method: "PUT", path: `${configMaps}/a`, headers, body: { ...object, data: { k: "2" } } });
      await client.send({ method: "PUT", path: `${configMaps}/a?dryRun=All`, body: { ...object, data: { k: "3" } } });
      await client.send({ path: `${configMaps}?labelSelector=x%3Dy` });
      await client.send({ path: `${configMaps}/missing` });
      await client.send({ method: "DELETE", path: `${configMaps}/a` });
      await client.send({ path: "/version" });
    });
    const shown = sent.map(({ verb, resource, name, code, reason, dryRun, changes }) => [
      ...[verb, resource, name, code, reason, dryRun],
      changes.map((change) => [
        change.action,
        change.name,
        change.fields.map(({ path, before: old, after: now }) => `${path} ${old} ${now}`),
      ]),
    ]);
    assert.deepEqual(shown, [
      ["create", "configmaps", "", 201, "", false, [["created", "a", []]]],
      ["update", "configmaps", "a", 200, "", false, [["updated", "a", ['data.k "1" "2"']]]],
      ["update", "configmaps", "a", 200, "", true, []],
      ["list", "configmaps", "", 200, "", false, []],
      ["get", "configmaps", "missing", 404, "NotFound", false, []],
      ["delete", "configmaps", "a", 200, "", false, [["deleted", "a", []]]],
      ["get", "", "", 200, "", false, []],
    ]);
    const [created] = sent as [TimelineRequest];
    assert.deepEqual([created.userAgent, created.user, created.client], ["test/1", "kubernetes-admin", "127.0.0.1"]);
    assert.equal(sent[3]?.labelSelector, "x=y");
    assert.equal(sent[4]?.message, 'configmaps "missing" not found');
  });

  test("attributes changes to the request that made them, also among concurrent ones", async () => {
    const names = Array.from({ length: 40 }, (_, at) => `many-${at}`);
    const sent = await during(async () => {
      const create = (name: string) => client.send({ method: "POST", path: configMaps, body: { metadata: { name } } });
      await Promise.all(names.map(create));
      await client.send({ method: "DELETE", path: configMaps });
    });
    const last = sent.pop() as TimelineRequest;
    assert.ok(sent.every(({ changes }) => changes.length === 1));
    assert.deepEqual(sent.flatMap(({ changes }) => changes.map(({ name }) => name)).sort(), [...names].sort());
    assert.deepEqual([last.verb, last.changes.length], ["deletecollection", names.length]);
  });

  test("contains no values of Secrets and no credentials", async () => {
    const secret = { metadata: { name: "s" }, stringData: { password: "hunter-secret" } };
    const path = "/api/v1/namespaces/default/secrets";
    await client.send({ method: "POST", path, body: secret });
    const apply = { "content-type": "application/apply-patch+yaml" };
    const applied = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", annotations: { "kubectl.kubernetes.io/last-applied-configuration": "hunter-annotation" } },
      stringData: { password: "hunter-next", "bad key!": "hunter-invalid" },
    };
    await client.send({ method: "PATCH", path: `${path}/s?fieldManager=x&force=true`, headers: apply, body: applied });
    const { "bad key!": _bad, ...stringData } = applied.stringData;
    const valid = { ...applied, stringData };
    await client.send({ method: "PATCH", path: `${path}/s?fieldManager=x&force=true`, headers: apply, body: valid });
    await client.send({ path: "/version", headers: { authorization: "Bearer hunter-token" }, anonymous: true });
    await client.send({ path: `${path}/s`, anonymous: true });
    await client.send({ path: "/version?access_token=hunter-query" });
    const denied = requests(server.timeline.entries()).find(
      ({ resource, code }) => resource === "secrets" && code === 403,
    );
    assert.match(
      denied?.message ?? "",
      /^secrets "s" is forbidden: User "system:anonymous" cannot get resource "secrets"/,
    );
    const changed = requests(server.timeline.entries()).flatMap(({ changes }) => changes);
    const fields = changed.filter(({ kind }) => kind === "Secret").flatMap((change) => change.fields);
    assert.deepEqual(fields, [{ path: "data.password", before: "(hidden)", after: "(hidden)" }]);
    const everything = server.timeline.format() + JSON.stringify(server.timeline.entries());
    assert.doesNotMatch(everything, /hunter|aHVudGVy/);
  });

  test("escapes control characters in texts that clients choose", async () => {
    const since = server.timeline.mark();
    await client.send({ path: "/%1b%5B2J%0afoo", headers: { "user-agent": "x\u009b2J" } });
    const text = server.timeline.format({ since });
    assert.match(text, /\\x1b\[2J\\nfoo .*x\\u009b2J/);
    assert.equal(text.split("\n").length, 2, text);
  });

  test("a watch has the number of its events and its end", async () => {
    const watch = await during(() => client.send({ path: `${configMaps}?watch=1&timeoutSeconds=1` }));
    assert.deepEqual(
      watch.map(({ verb, code, events }) => [verb, code, events]),
      [["watch", 200, 0]],
    );
    assert.ok((watch[0]?.durationMs as number) >= 0);
  });

  test("a mark before the end of a watch includes it", async () => {
    const watching = client.send({ path: `${configMaps}?watch=1&timeoutSeconds=1` });
    const isOpen = (): boolean =>
      requests(server.timeline.entries()).some(({ durationMs, verb }) => verb === "watch" && durationMs === undefined);
    await until(() => isOpen());
    const since = server.timeline.mark();
    assert.deepEqual(server.timeline.entries({ since }), []);
    await watching;
    await client.send({ path: "/version" });
    assert.deepEqual(
      requests(server.timeline.entries({ since })).map(({ verb }) => verb),
      ["watch", "get"],
    );
  });

  test("writes of the server itself have their own entries", async () => {
    const owner = (await client.send({ method: "POST", path: configMaps, body: { metadata: { name: "owner" } } })).body;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }];
    const owned = { metadata: { name: "owned", ownerReferences } };
    await client.send({ method: "POST", path: configMaps, body: owned });
    const since = server.timeline.mark();
    await client.send({ method: "DELETE", path: `${configMaps}/owner` });
    const collected = (): boolean => server.timeline.entries({ since }).some(({ kind }) => kind === "server");
    await until(() => collected());
    const text = server.timeline.format({ since });
    assert.match(text, /the server itself\n {4}- ConfigMap \(v1\) default\/owned/);
  });
});

test("a timeline is bounded by entries and by bytes", async () => {
  const server = await startTestServer({ controllers: [], timeline: { entriesMax: 5, bytesMax: 100_000 } });
  const client = rawClient(server.kubeconfig);
  for (let at = 0; at < 8; at++) await client.send({ path: "/version" });
  assert.deepEqual([server.timeline.entries().length, server.timeline.dropped], [5, 3]);
  const data = { large: "x".repeat(60_000) };
  for (const name of ["a", "b"])
    await client.send({ method: "POST", path: configMaps, body: { metadata: { name }, data } });
  assert.equal(server.timeline.entries().length, 1);
  assert.match(
    server.timeline.format(),
    /^\(9 older entries were dropped\)\n.*\n {4}\+ ConfigMap \(v1\) default\/b\n$/,
  );
  client.close();
  await server.close();
});
