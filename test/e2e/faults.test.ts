/** Each fault of the test kit, as clients see it, and as the store is afterwards. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { type Fault, type FaultRule, startTestServer, type TestServer } from "../../src/testing/index.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type Answer, type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { quietControllers } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const clock = manualClock(Date.now());
let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer({ controllers: quietControllers, clock });
  client = rawClient(server.kubeconfig);
});
afterEach(() => server.faults.clear());
after(async () => {
  client.close();
  await server.close();
});

let names = 0;
/** Creates an object, and returns its path. */
async function newObject(): Promise<{ name: string; path: string }> {
  const name = `object-${names++}`;
  assert.equal((await client.send(creation(name))).status, 201);
  return { name, path: `${configMaps}/${name}` };
}
const creation = (name: string): RawRequest => ({ method: "POST", path: configMaps, body: { metadata: { name } } });
const update = ({ name, path }: { name: string; path: string }): RawRequest => ({
  method: "PUT",
  path,
  body: { metadata: { name }, data: { changed: "yes" } },
});
const isChanged = async (path: string): Promise<boolean> => (await client.send({ path })).body.data?.changed === "yes";

/** What a request got: the status, or the code of the network's error. */
async function outcome(request: RawRequest): Promise<Answer | string> {
  return client.send(request).catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
}

const answerRows: [fault: Fault, status: number, reason: string, message: RegExp, written: boolean][] = [
  [
    { type: "conflict" },
    409,
    "Conflict",
    /^Operation cannot be fulfilled on configmaps "object-\d+": the object has been modified; please apply your changes to the latest version and try again$/,
    false,
  ],
  [{ type: "tooManyRequests", retryAfterSeconds: 7 }, 429, "TooManyRequests", /^Too many requests/, false],
  [{ type: "internalError" }, 500, "InternalError", /^Internal error occurred: a fault of the test kit$/, false],
  [{ type: "internalError", message: "disk" }, 500, "InternalError", /^Internal error occurred: disk$/, false],
  [{ type: "timeoutBeforeCommit" }, 504, "Timeout", /request did not complete within requested timeout/, false],
  [{ type: "timeoutAfterCommit" }, 504, "Timeout", /request did not complete within requested timeout/, true],
];
for (const [fault, status, reason, message, written] of answerRows) {
  test(`${fault.type} answers a write with ${status}, and ${written ? "writes" : "writes nothing"}`, async () => {
    const object = await newObject();
    const handle = server.faults.add({ verb: "update", count: 1 }, fault);
    const answer = (await outcome(update(object))) as Answer;
    assert.deepEqual([answer.status, answer.body.reason, handle.hits], [status, reason, 1]);
    assert.match(answer.body.message, message);
    assert.equal(answer.headers["retry-after"], fault.type === "tooManyRequests" ? "7" : undefined);
    assert.equal(await isChanged(object.path), written);
    assert.equal((await client.send(update(object))).status, 200, "only one request is affected");
  });
}

test("a failed write has its own answer after timeoutAfterCommit", async () => {
  server.faults.add({ verb: "update" }, { type: "timeoutAfterCommit" });
  assert.equal((await client.send(update({ name: "x", path: `${configMaps}/x` }))).status, 404);
});

for (const when of ["before", "after"] as const) {
  test(`cutConnection ${when} the write closes the connection`, async () => {
    const object = await newObject();
    server.faults.add({ verb: "update", count: 1 }, { type: "cutConnection", when });
    assert.equal(await outcome(update(object)), "ECONNRESET");
    assert.equal(await isChanged(object.path), when === "after");
    const [entry] = server.timeline
      .entries()
      .filter((one) => one.kind === "request" && one.fault !== undefined)
      .slice(-1);
    assert.ok(entry?.kind === "request");
    assert.deepEqual([entry.code, entry.changes.length], [0, when === "after" ? 1 : 0]);
  });
}

test("gone answers a list with 410 Expired", async () => {
  server.faults.add({ verb: "list", resource: "configmaps" }, { type: "gone" });
  const { status, body } = await client.send({ path: configMaps });
  assert.deepEqual([status, body.reason], [410, "Expired"]);
});

test("latency waits by the clock of the server", async () => {
  const object = await newObject();
  server.faults.add({ verb: "update" }, { type: "latency", ms: 5000 });
  let answered = false;
  const writing = client.send(update(object)).then(({ status }) => {
    answered = true;
    return status;
  });
  await waitForHit();
  assert.equal(await isChanged(object.path), false);
  clock.advance(4999);
  await new Promise(setImmediate);
  assert.equal(answered, false);
  clock.advance(1);
  assert.equal(await writing, 200);
});

test("a request waits no longer when its rule is removed", async () => {
  const object = await newObject();
  const fault = server.faults.add({ verb: "update" }, { type: "latency", ms: 600_000 });
  const other = server.faults.add({ verb: "get", name: object.name }, { type: "latency", ms: 600_000 });
  const writing = client.send(update(object));
  await waitForHit();
  other.remove();
  await new Promise(setImmediate);
  fault.remove();
  assert.equal((await writing).status, 200);
});

test("a server closes without a wait for requests that a rule delays", async () => {
  const delaying = await startTestServer({ controllers: quietControllers, clock: manualClock(Date.now()) });
  const fault = delaying.faults.add({ verb: "create" }, { type: "latency", ms: 600_000 });
  const own = rawClient(delaying.kubeconfig);
  const creating = own.send(creation("late"));
  await until(() => fault.hits > 0);
  const [{ status }] = await Promise.all([creating, delaying.close()]);
  own.close();
  assert.equal(status, 201);
});

/** Waits until a rule has applied. */
async function waitForHit(): Promise<void> {
  await until(() => server.faults.list().some(({ hits }) => hits > 0));
}

const matchRows: [rule: FaultRule, statuses: number[]][] = [
  [{ verb: "get", count: 2 }, [500, 500, 200, 200]],
  [{ verb: "get", after: 2 }, [200, 200, 500, 500]],
  [{ verb: "get", after: 1, count: 1 }, [200, 500, 200, 200]],
  [{ verb: ["list", "g*"] }, [500, 500, 500, 500]],
  [{ verb: "get", resource: "secrets" }, [200, 200, 200, 200]],
  [{ resource: "configmaps", namespace: "def*", name: "shared" }, [500, 500, 500, 500]],
  [{ user: "kubernetes-admin", client: "127.0.0.1" }, [500, 500, 500, 500]],
  [{ client: "X509SHA256=*" }, [500, 500, 500, 500]],
  [{ user: "another-user" }, [200, 200, 200, 200]],
  [{ userAgent: "test/*" }, [500, 500, 500, 500]],
  [{ subresource: "status" }, [200, 200, 200, 200]],
  [{ probability: 0 }, [200, 200, 200, 200]],
  [{ verb: "get", probability: 0.5, seed: 1 }, [200, 500, 200, 200]],
  [{ verb: "get", probability: 0.5, seed: 3 }, [200, 500, 500, 500]],
];
for (const [rule, statuses] of matchRows) {
  test(`the rule ${JSON.stringify(rule)} gives ${statuses}`, async () => {
    await client.send(creation("shared"));
    server.faults.add(rule, { type: "internalError" });
    const got: number[] = [];
    for (const _ of statuses)
      got.push((await client.send({ path: `${configMaps}/shared`, headers: { "user-agent": "test/1" } })).status);
    assert.deepEqual(got, statuses);
  });
}

test("of several rules the first one applies that is not used up", async () => {
  server.faults.add({ verb: "get", count: 1 }, { type: "internalError" });
  server.faults.add({ verb: "get", count: 1 }, { type: "tooManyRequests" });
  const last = server.faults.add({ verb: "get" }, { type: "timeoutBeforeCommit" });
  const statuses = async (count: number): Promise<number[]> => {
    const got = [];
    for (let at = 0; at < count; at++) got.push((await client.send({ path: `${configMaps}/none` })).status);
    return got;
  };
  assert.deepEqual(await statuses(4), [500, 429, 504, 504]);
  last.remove();
  last.remove();
  assert.deepEqual(await statuses(1), [404]);
  assert.deepEqual(
    server.faults.list().map(({ hits }) => hits),
    [1, 1],
  );
});

test("health checks are exempt, and requests without the right for them", async () => {
  const rule = server.faults.add({}, { type: "internalError" });
  for (const path of ["/livez", "/readyz", "/healthz", "/livez/ping"])
    assert.equal((await client.send({ path })).status, 200);
  const headers = { "impersonate-user": "user-without-rights" };
  assert.equal((await client.send({ path: configMaps, headers })).status, 403);
  assert.equal(rule.hits, 0);
  assert.equal((await client.send({ path: "/version" })).status, 500);
});

test("the server's own writes are not affected", async () => {
  const { name, path } = await newObject();
  const { uid } = (await client.send({ path })).body.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid }];
  const owned = { metadata: { name: `${name}-owned`, ownerReferences } };
  await client.send({ method: "POST", path: configMaps, body: owned });
  await client.send({ method: "DELETE", path });
  const rule = server.faults.add({ verb: ["delete", "patch", "update"] }, { type: "internalError" });
  const isCollected = async (): Promise<boolean> => (await client.send({ path: `${path}-owned` })).status === 404;
  await until(() => {
    clock.advance(100);
    return isCollected();
  });
  assert.equal(rule.hits, 0);
});

describe("staleRead", () => {
  /** The data of an object, and the resourceVersion, as a get or a list shows them. */
  const read = async (path: string, query = ""): Promise<[version: number, data: unknown]> => {
    const { body } = await client.send({ path: `${path}${query}` });
    return [Number(body.metadata.resourceVersion), body.data?.changed];
  };

  test("answers from the state before the newest changes", async () => {
    const object = await newObject();
    const [created] = await read(object.path);
    await client.send(update(object));
    const [updated] = await read(object.path);
    server.faults.add({ count: 4 }, { type: "staleRead", changes: 1 });
    assert.deepEqual(await read(object.path), [created, undefined]);
    assert.deepEqual(await read(configMaps), [created, undefined]);
    assert.deepEqual(await read(configMaps, "?resourceVersion=0"), [created, undefined]);
    const [listed] = await read(configMaps, `?resourceVersion=${updated}&resourceVersionMatch=NotOlderThan`);
    assert.equal(listed, updated, "no state before the one that the client names");
    assert.deepEqual(await read(object.path), [updated, "yes"]);
    server.faults.add({ count: 1 }, { type: "staleRead", changes: 2 });
    assert.equal((await client.send({ path: object.path })).status, 404);
  });

  test("answers from the state some time ago", async () => {
    clock.advance(60_000);
    const object = await newObject();
    clock.advance(1000);
    await client.send(update(object));
    clock.advance(1000);
    server.faults.add({}, { type: "staleRead", ms: 1500 });
    assert.equal((await read(object.path))[1], undefined);
    clock.advance(1000);
    assert.equal((await read(object.path))[1], "yes");
  });

  test("never answers from a state before the history", async () => {
    const object = await newObject();
    clock.advance(6 * 60_000);
    await client.send(update(object));
    server.faults.add({}, { type: "staleRead", changes: 10_000 });
    assert.equal((await client.send({ path: object.path })).status, 200);
  });
});

test("the timeline has rules and hits", async () => {
  const since = server.timeline.mark();
  const handle = server.faults.add({ verb: "get", resource: "configmaps" }, { type: "internalError" });
  await client.send({ path: `${configMaps}/x` });
  handle.remove();
  const text = server.timeline.format({ since });
  const lines = text.split("\n").map((line) => line.replace(/^[\d:.]+ /, "").replace(/\d+ ms.*/, ""));
  assert.deepEqual(lines, [
    `fault ${handle.id} added: internalError {} for {"verb":"get","resource":"configmaps"}`,
    "get    configmaps default/x → 500 InternalError (Internal error occurred: a fault of the test kit) ",
    `fault ${handle.id} removed: after 1 hits`,
    "",
  ]);
  assert.match(text, new RegExp(`\\[fault ${handle.id} internalError\\]`));
});

test("at most 1000 rules exist", () => {
  for (let at = 0; at < 1000; at++) server.faults.add({}, { type: "conflict" });
  assert.throws(() => server.faults.add({}, { type: "conflict" }), /rules: there are 1000 already/);
});
