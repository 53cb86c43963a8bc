/** /testing/clock: the virtual time of a server, for programs in other languages. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { startTestServer, type TestServer, virtualClock } from "../../src/testing/index.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { quietControllers } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const path = "/testing/clock";
const start = Date.UTC(2030, 0);

describe("a virtual clock", () => {
  const clock = virtualClock({ now: start });
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    server = await startTestServer({ controllers: quietControllers, control: true, clock });
    client = rawClient(server.kubeconfig);
  });
  after(async () => {
    client.close();
    await server.close();
  });

  const move = (body: unknown) => client.send({ method: "POST", path, body: body as object });

  test("is read, advanced, and set to a later time", async () => {
    assert.deepEqual((await client.send({ path })).body, { now: "2030-01-01T00:00:00.000Z", virtual: true });
    assert.deepEqual((await move({ advance: "1m30s" })).body, { now: "2030-01-01T00:01:30.000Z", virtual: true });
    assert.deepEqual((await move({ advance: 500 })).body.now, "2030-01-01T00:01:30.500Z");
    assert.deepEqual((await move({ set: "2030-01-01T02:00:00.25+01:00" })).body.now, "2030-01-01T01:00:00.250Z");
    assert.equal(clock.now(), start + 3_600_250);
  });

  test("has reached the time when the answer arrives", async () => {
    const events = "/api/v1/namespaces/default/events";
    const involvedObject = { kind: "ConfigMap", namespace: "default", name: "x" };
    const body = { metadata: { name: "short" }, involvedObject, reason: "Test" };
    assert.equal((await client.send({ method: "POST", path: events, body })).status, 201);
    await move({ advance: "59m59s" });
    assert.equal((await client.send({ path: `${events}/short` })).status, 200);
    await move({ advance: "1s" });
    assert.equal((await client.send({ path: `${events}/short` })).status, 404);
  });

  test("moves by more than the time limit of requests, and the limit adds no timers", async () => {
    const { status } = await client.send({ method: "POST", path: `${path}?timeout=5s`, body: { advance: "2h" } });
    assert.equal(status, 200);
  });

  test("adds up requests that run at once", async () => {
    const before = clock.now();
    await Promise.all(Array.from({ length: 5 }, () => move({ advance: "1s" })));
    assert.equal(clock.now(), before + 5000);
  });

  test("is in the timeline", async () => {
    const since = server.timeline.mark();
    await move({ advance: "1s" });
    const set = new Date(clock.now() + 1500).toISOString();
    assert.equal((await move({ set })).status, 200);
    const texts = server.timeline.entries({ since }).flatMap((entry) => (entry.kind === "clock" ? [entry.text] : []));
    assert.deepEqual(texts, ["advanced by 1s", `set to ${set}`]);
    assert.match(server.timeline.format({ since }), /^\S+ the clock is advanced by 1s\n/);
  });

  const rejected: [body: unknown, message: RegExp][] = [
    [{}, /^the body must be an object with one of the fields advance and set$/],
    [[], /^the body must be an object/],
    [{ advance: "1s", set: "2031-01-01T00:00:00Z" }, /^the body must be an object/],
    [{ after: "1s" }, /^the body must be an object/],
    [{ advance: null }, /^advance: must be a duration/],
    [{ advance: ["1s"] }, /^advance: must be a duration/],
    [{ advance: "1 hour" }, /^time: unknown unit " hour" in duration "1 hour"$/],
    [{ advance: "-1s" }, /positive whole number of milliseconds/],
    [{ advance: 0.5 }, /positive whole number of milliseconds/],
    [{ advance: "1ns" }, /positive whole number of milliseconds/],
    ["advance: 9223372036854775808", /^advance: must be a duration/],
    [{ advance: Number.MAX_SAFE_INTEGER }, /between the years 1970 and 9999/],
    [{ set: "2001-01-01T00:00:00Z" }, /^2001-01-01T00:00:00.000Z is before the time of the clock/],
    [{ set: "0001-01-01T00:00:00Z" }, /between the years 1970 and 9999/],
    [{ set: "tomorrow" }, /^set: parsing time "tomorrow"/],
    [{ set: 1 }, /^set: must be a time/],
    ["{", /^the body is not valid/],
  ];
  for (const [body, message] of rejected) {
    test(`is unchanged by ${JSON.stringify(body)}`, async () => {
      const before = clock.now();
      const answer = await move(body);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, message);
      assert.equal(clock.now(), before);
    });
  }

  test("answers an error when timers do not end", async () => {
    let isOn = true;
    const again = (): void => void (isOn && clock.after(0, again));
    clock.after(1000, again);
    const answer = await move({ advance: "1m" });
    isOn = false;
    assert.equal(answer.status, 500);
    assert.match(answer.body.message, /10000 timers fired at this time, without an end$/);
  });

  test("stops when the client has gone, also a move that waits for another one", async () => {
    const before = clock.now();
    const since = server.timeline.mark();
    const gone = Array.from({ length: 2 }, () => {
      const leaving = rawClient(server.kubeconfig);
      const answer = leaving.send({ method: "POST", path, body: { advance: "876000h" } });
      return { close: leaving.close, failed: assert.rejects(answer) };
    });
    await until(() => !(clock.now() === before || server.timeline.entries({ since }).length < 2));
    for (const { close } of gone) close();
    await Promise.all(gone.map(({ failed }) => failed));
    await clock.advance(0);
    const stopped = clock.now();
    assert.ok(stopped < before + 876_000 * 3_600_000);
    assert.equal((await move({ advance: "1s" })).body.now, new Date(stopped + 1000).toISOString());
    assert.match(
      server.timeline.format({ since }),
      /the clock is stopped at \S+, because the client has gone\n.*the clock is stopped/s,
    );
  });

  test("moves only for users with a role for the verb and the path", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ nonResourceURLs: [path], verbs: ["get"] }];
    const subjects = [{ kind: "User", name: "reader", apiGroup: "rbac.authorization.k8s.io" }];
    const roleRef = { kind: "ClusterRole", name: "clock", apiGroup: "rbac.authorization.k8s.io" };
    const metadata = { name: "clock" };
    await client.send({ method: "POST", path: `${rbac}/clusterroles`, body: { metadata, rules } });
    await client.send({ method: "POST", path: `${rbac}/clusterrolebindings`, body: { metadata, subjects, roleRef } });
    const before = clock.now();
    const post = { method: "POST", path, body: { advance: "1h" } };
    for (const [request, status] of [
      [{ path, headers: { "impersonate-user": "reader" } }, 200],
      [{ ...post, headers: { "impersonate-user": "reader" } }, 403],
      [{ ...post, headers: { "impersonate-user": "other" } }, 403],
      [{ ...post, anonymous: true }, 403],
    ] as const)
      assert.equal((await client.send(request)).status, status);
    assert.equal(clock.now(), before);
  });
});

test("who reads and moves the clock is in the audit log, also those that may not", async () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-clock-"));
  const [policyFile, log] = [join(directory, "policy.yaml"), join(directory, "audit.log")];
  writeFileSync(policyFile, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}");
  const audit = { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: log } };
  const server = await startTestServer({ controllers: [], control: true, clock: virtualClock({ now: start }), audit });
  const client = rawClient(server.kubeconfig);
  const post = { method: "POST", path, body: { advance: "1h" } };
  const statuses: number[] = [];
  for (const request of [{ path }, post, { ...post, headers: { "impersonate-user": "other" } }])
    statuses.push((await client.send(request)).status);
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  const events = lines
    .map((line) => JSON.parse(line))
    .filter(({ stage, requestURI }) => stage === "ResponseComplete" && requestURI === path)
    .map(({ verb, responseStatus, impersonatedUser }) => [verb, responseStatus.code, impersonatedUser?.username]);
  assert.deepEqual(statuses, [200, 200, 403]);
  assert.deepEqual(events, [
    ["get", 200, undefined],
    ["post", 200, undefined],
    ["post", 403, "other"],
  ]);
  client.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

const idleHours = process.env.COXSWAIN_TEST_FULL === "1" ? 365 * 24 : 24;
test(`an idle server keeps its Lease for ${idleHours} hours`, async () => {
  const clock = virtualClock({ now: start });
  const server = await startTestServer({ clock });
  await clock.advance(`${idleHours}h`);
  assert.equal(clock.now(), start + idleHours * 3_600_000);
  const leases = await server.fetch("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
  const [lease] = (await leases.json()).items;
  // The Lease of the server is renewed within its hour.
  assert.ok(clock.now() - Date.parse(lease.spec.renewTime) < 3_600_000);
  await server.close();
});

test("a real clock is read, and does not move", async () => {
  const server = await startTestServer({ controllers: [], control: true });
  const read = await server.fetch(path);
  assert.equal((await read.json()).virtual, false);
  const moved = await server.fetch(path, { method: "POST", body: { advance: "1h" } });
  assert.equal(moved.status, 400);
  assert.match((await moved.json()).message, /--virtual-clock/);
  await server.close();
});
