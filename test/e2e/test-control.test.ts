/** The paths under /testing/, by which programs in other languages control a test server. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startTestServer, type TestServer } from "../../src/testing/index.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { quietControllers } from "../support/start-test-server.ts";

const json = { accept: "application/json" };

describe("control paths", () => {
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    server = await startTestServer({ controllers: quietControllers, control: true });
    client = rawClient(server.kubeconfig);
  });
  after(async () => {
    client.close();
    await server.close();
  });

  test("GET /testing/timeline answers text, or JSON with the next mark", async () => {
    await client.send({ path: "/version" });
    const text = await client.send({ path: "/testing/timeline" });
    assert.match(text.text, /get +\/version → 200/);
    assert.equal(text.headers["content-type"], "text/plain; charset=utf-8");
    const { body } = await client.send({ path: "/testing/timeline", headers: json });
    assert.deepEqual([body.dropped, body.entries.length], [0, server.timeline.entries().length]);
    const next = await client.send({ path: `/testing/timeline?since=${body.mark}`, headers: json });
    assert.deepEqual(next.body, { mark: body.mark, dropped: 0, entries: [] });
  });

  const wrong: [method: string, path: string, status: number][] = [
    ["GET", "/testing/timeline?since=-1", 400],
    ["GET", "/testing/timeline?since=x", 400],
    ["POST", "/testing/timeline", 405],
    ["GET", "/testing/unknown", 404],
    ["GET", "/testing/", 404],
    ["GET", "/testing", 404],
  ];
  for (const [method, path, status] of wrong) {
    test(`${method} ${path} answers ${status}`, async () => {
      assert.equal((await client.send({ method, path })).status, status);
    });
  }

  test("only users with a role for the path may use them", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    for (const name of ["admin", "edit", "view", "system:discovery", "system:basic-user", "system:monitoring"]) {
      const subjects = [{ kind: "User", name: `user-of-${name}`, apiGroup: "rbac.authorization.k8s.io" }];
      const roleRef = { kind: "ClusterRole", name, apiGroup: "rbac.authorization.k8s.io" };
      const metadata = { name: `test-${name}` };
      const bound = await client.send({ method: "POST", path: rbac, body: { metadata, subjects, roleRef } });
      assert.equal(bound.status, 201);
      for (const path of ["/testing/timeline", "/testing/faults"]) {
        const headers = { "impersonate-user": `user-of-${name}` };
        assert.equal((await client.send({ path, headers })).status, 403, `${name} ${path}`);
      }
    }
    assert.equal((await client.send({ path: "/testing/timeline", anonymous: true })).status, 403);
  });

  test("a role for the path allows it", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ nonResourceURLs: ["/testing/timeline"], verbs: ["get"] }];
    const subjects = [{ kind: "User", name: "tester", apiGroup: "rbac.authorization.k8s.io" }];
    const roleRef = { kind: "ClusterRole", name: "testers", apiGroup: "rbac.authorization.k8s.io" };
    const metadata = { name: "testers" };
    await client.send({ method: "POST", path: `${rbac}/clusterroles`, body: { metadata, rules } });
    await client.send({ method: "POST", path: `${rbac}/clusterrolebindings`, body: { metadata, subjects, roleRef } });
    const headers = { "impersonate-user": "tester" };
    assert.equal((await client.send({ path: "/testing/timeline", headers })).status, 200);
    assert.equal((await client.send({ path: "/testing/faults", headers })).status, 403);
  });
});

test("without the option the paths do not exist", async () => {
  const server = await startTestServer({ controllers: [] });
  const client = rawClient(server.kubeconfig);
  for (const path of ["/testing/timeline", "/testing/faults", "/testing/"])
    assert.equal((await client.send({ path })).status, 404);
  client.close();
  await server.close();
});
