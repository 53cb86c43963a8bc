/** `--watch-cache=false` and sizes of 0: what clients see without a watch cache, as with kube-apiserver and the same flags. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const kinds: Readonly<Record<string, string>> = {
  configmaps: "/api/v1/namespaces/default/configmaps",
  secrets: "/api/v1/namespaces/default/secrets",
  events: "/api/v1/namespaces/default/events",
};
const involvedObject = { namespace: "default" };

interface Prepared {
  readonly server: TestServer;
  readonly client: RawClient;
  /** By kind: the resourceVersion after the first object. */
  readonly first: Readonly<Record<string, string>>;
}

/** Three objects of each kind, of which the first was updated. */
async function prepare(options: Partial<ServerOptions>): Promise<Prepared> {
  const server = await startTestServer(options);
  const client = rawClient(server.kubeconfig);
  const first: Record<string, string> = {};
  for (const [kind, path] of Object.entries(kinds)) {
    for (const name of ["a", "b", "c"]) {
      const { body } = await client.send({ method: "POST", path, body: { metadata: { name }, involvedObject } });
      first[kind] ??= body.metadata.resourceVersion;
    }
    const headers = { "content-type": "application/merge-patch+json" };
    await client.send({ method: "PATCH", path: `${path}/a`, headers, body: { metadata: { labels: { new: "x" } } } });
  }
  return { server, client, first };
}

const servers: readonly (readonly [Prepared, cached: string, uncached: readonly string[]])[] = [
  [await prepare({ watchCache: false }), "", ["configmaps", "secrets", "events"]],
  [await prepare({ watchCacheSizes: new Map([["configmaps", 0]]) }), "secrets", ["configmaps", "events"]],
  [await prepare({ watchCacheSizes: new Map([["events", 100]]) }), "events", []],
];
after(async () => {
  for (const [{ server, client }] of servers) {
    client.close();
    await server.close();
  }
});

const paths = servers.flatMap(([{ client, first }, cached, uncached]) => [
  ...(cached === "" ? [] : [{ client, kind: cached, isCached: true, since: first[cached] as string }]),
  ...uncached.map((kind) => ({ client, kind, isCached: false, since: first[kind] as string })),
]);

for (const { client, kind, isCached, since } of paths) {
  const path = kinds[kind] as string;
  const which = `${kind} ${isCached ? "with" : "without"} a cache`;

  test(`${which}: a limit applies at resourceVersion 0 ${isCached ? "not" : "too"}`, async () => {
    const { body } = await client.send({ path: `${path}?limit=2&resourceVersion=0` });
    assert.deepEqual([body.items.length, body.metadata.remainingItemCount], isCached ? [3, undefined] : [2, 1]);
  });

  test(`${which}: a get from a later version fails ${isCached ? "after a wait" : "at once"}`, async () => {
    const { status, headers, body } = await client.send({ path: `${path}/a?resourceVersion=900000` });
    assert.deepEqual([status, headers["retry-after"]], [504, isCached ? "1" : undefined]);
    assert.match(body.message, /^Timeout: Too large resource version: 900000, current: \d+$/);
  });

  test(`${which}: a get at a version that is not a number is ${isCached ? 500 : 400}`, async () => {
    const { status } = await client.send({ path: `${path}/a?resourceVersion=x` });
    assert.equal(status, isCached ? 500 : 400);
  });

  test(`${which}: with a limit and a version, one object is listed as it ${isCached ? "was then" : "is now"}`, async () => {
    const { body } = await client.send({
      path: `${path}?fieldSelector=metadata.name=a&limit=1&resourceVersion=${since}`,
    });
    assert.deepEqual(body.items[0].metadata.labels, isCached ? undefined : { new: "x" });
  });

  test(`${which}: a list that must be exact is that of its version`, async () => {
    const { body } = await client.send({ path: `${path}?resourceVersionMatch=Exact&resourceVersion=${since}` });
    assert.deepEqual([body.metadata.resourceVersion, body.items.length], [since, 1]);
  });

  test(`${which}: a watch ends ${isCached ? "with" : "without"} a bookmark`, async () => {
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${since}`;
    const { text } = await client.send({ path: `${path}?${query}` });
    const types = text.trimEnd().split("\n");
    const shown = types.map((line) => JSON.parse(line).type);
    assert.deepEqual(shown, ["ADDED", "ADDED", "MODIFIED", ...(isCached ? ["BOOKMARK"] : [])]);
  });

  test(`${which}: a streaming list has the bookmark that ends it`, async () => {
    const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const { text } = await client.send({ path: `${path}?${query}&timeoutSeconds=1` });
    const events = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.slice(0, 4).map(({ type }) => type),
      ["ADDED", "ADDED", "ADDED", "BOOKMARK"],
    );
    assert.deepEqual(events[3].object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
    assert.equal(events.length, isCached ? 5 : 4);
  });

  test(`${which}: a streaming list from a later version fails`, async () => {
    const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=900000";
    const { text } = await client.send({ path: `${path}?${query}&timeoutSeconds=5` });
    const { type, object } = JSON.parse(text);
    assert.deepEqual([type, object.code, object.details.causes[0].reason], ["ERROR", 504, "ResourceVersionTooLarge"]);
  });
}
