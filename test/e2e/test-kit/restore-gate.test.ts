/**
 * Requests and restores at the same time. Guarantees: a write that was authorized and admitted on the state before a
 * restore is not committed after it, and no quota is charged for it; requests that arrive during a restore are served on the restored state.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  eventually,
  startTestServer,
  type TestServer,
  type VirtualClock,
  virtualClock,
} from "../../../src/testing/index.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const rbacGroup = "rbac.authorization.k8s.io";
const maps = "/api/v1/namespaces/default/configmaps";
const quotas = "/api/v1/namespaces/default/resourcequotas";
const asAnn = { headers: { "impersonate-user": "ann" } };

async function post(server: TestServer, path: string, body: object): Promise<void> {
  const response = await server.fetch(path, { method: "POST", body });
  assert.equal(response.status, 201, await response.text());
}

/** What the quota counts of ConfigMaps. */
async function used(server: TestServer): Promise<string | undefined> {
  return (await (await server.fetch(`${quotas}/q`)).json()).status?.used?.["count/configmaps"];
}

async function permitAnn(server: TestServer): Promise<void> {
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }];
  await post(server, `${rbac}/roles`, { metadata: { name: "ann" }, rules });
  const roleRef = { apiGroup: rbacGroup, kind: "Role", name: "ann" };
  const subjects = [{ apiGroup: rbacGroup, kind: "User", name: "ann" }];
  await post(server, `${rbac}/rolebindings`, { metadata: { name: "ann" }, roleRef, subjects });
}

async function start(context: TestContext): Promise<[TestServer, VirtualClock]> {
  const clock = virtualClock();
  const server = await startTestServer({
    clock,
    controllers: ["*", "-root-ca-certificate-publisher-controller"],
  });
  context.after(() => server.close());
  return [server, clock];
}

const writes: [what: string, method: string, path: string, body?: object][] = [
  ["create", "POST", maps, { metadata: { name: "b" } }],
  ["update", "PUT", `${maps}/a`, { metadata: { name: "a" }, data: { v: "2" } }],
  ["patch", "PATCH", `${maps}/a`, { data: { v: "2" } }],
  ["delete", "DELETE", `${maps}/a`],
  ["deletecollection", "DELETE", maps],
];

for (const [verb, method, path, body] of writes) {
  test(`a ${verb} that was authorized before a restore fails with 409, and changes nothing`, async (context) => {
    const [server, clock] = await start(context);
    await post(server, quotas, { metadata: { name: "q" }, spec: { hard: { "count/configmaps": "10" } } });
    await eventually(async () => (await used(server)) === "0");
    await post(server, maps, { metadata: { name: "a" }, data: { v: "1" } });
    const forbidden = await server.snapshot();
    await permitAnn(server);
    server.faults.add({ verb, count: 1 }, { type: "latency", ms: 1000 });
    const answering = server.fetch(path, { method, ...asAnn, ...(body && { body }) });
    const isWaiting = (): boolean =>
      server.timeline.entries().some((entry) => entry.kind === "fault" && entry.action === "hit");
    await eventually(isWaiting, { timeoutMs: 60_000 });
    await server.restore(forbidden);
    const before = await (await server.fetch(maps)).text();
    clock.advance("1s");
    const answer = await answering;
    assert.equal(answer.status, 409);
    const { reason, message } = await answer.json();
    assert.equal(reason, "Conflict");
    assert.match(message, /configmaps ".*": the server was restored to a snapshot; please try again$/);
    assert.equal(await (await server.fetch(maps)).text(), before);
    assert.equal(await used(server), "1");
    assert.equal((await server.fetch(path, { method, ...asAnn, ...(body && { body }) })).status, 403);
  });
}

test("requests that arrive during a restore are served on the restored state", async (context) => {
  const [server] = await start(context);
  const forbidden = await server.snapshot();
  await permitAnn(server);
  const permitted = await server.snapshot();
  for (const [snapshot, status] of [
    [forbidden, 403],
    [permitted, 201],
    [forbidden, 403],
  ] as const) {
    const restoring = server.restore(snapshot);
    const answers = Array.from({ length: 20 }, (_, index) =>
      server.fetch(maps, { method: "POST", ...asAnn, body: { metadata: { name: `a-${index}` } } }),
    );
    assert.deepEqual(
      (await Promise.all(answers)).map((answer) => answer.status),
      answers.map(() => status),
    );
    await restoring;
  }
});

test("restores at the same time run one after the other, and one that fails lets requests continue", async (context) => {
  const [server] = await start(context);
  const other = await startTestServer();
  const foreign = await other.snapshot();
  await other.close();
  const empty = await server.snapshot();
  await post(server, maps, { metadata: { name: "a" } });
  const full = await server.snapshot();
  const [first, failed, last] = await Promise.allSettled([
    server.restore(empty),
    server.restore(foreign),
    server.restore(full),
    server.fetch(`${maps}/a`).then(({ status }) => assert.equal(status, 200)),
  ]);
  assert.deepEqual([first.status, failed.status, last.status], ["fulfilled", "rejected", "fulfilled"]);
  assert.equal((await server.fetch(`${maps}/a`)).status, 200);
});
