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

  test("rules are added together, read with their hits, and removed", async () => {
    const yaml =
      "rules:\n- match: {verb: get, name: a*, count: 1}\n  fault: {type: tooManyRequests}\n- fault: {type: latency, ms: 0}\n";
    const post = { method: "POST", path: "/testing/faults", headers: { "content-type": "application/yaml" } };
    const added = await client.send({ ...post, body: yaml });
    const [first, second] = server.faults.list();
    const shown = [
      { id: first?.id, match: { verb: "get", name: "a*", count: 1 }, fault: { type: "tooManyRequests" }, hits: 0 },
      { id: second?.id, match: {}, fault: { type: "latency", ms: 0 }, hits: 0 },
    ];
    assert.deepEqual([added.status, added.body], [201, { rules: shown }]);
    const path = "/api/v1/namespaces/default/configmaps/a1";
    assert.equal((await client.send({ path })).status, 429);
    assert.equal((await client.send({ path: `/testing/faults/${first?.id}` })).body.hits, 1);
    const removed = await client.send({ method: "DELETE", path: `/testing/faults/${first?.id}` });
    assert.deepEqual([removed.status, removed.body.id], [200, first?.id]);
    assert.equal((await client.send({ path: `/testing/faults/${first?.id}` })).status, 404);
    assert.deepEqual((await client.send({ path: "/testing/faults" })).body, { rules: [shown[1]] });
    assert.deepEqual((await client.send({ method: "DELETE", path: "/testing/faults" })).body, { rules: [shown[1]] });
    assert.deepEqual(server.faults.list(), []);
  });

  test("a snapshot is taken by name, restored, and forgotten", async () => {
    const path = "/testing/snapshots";
    const maps = "/api/v1/namespaces/default/configmaps";
    const taken = await client.send({ method: "POST", path, body: { name: "empty" } });
    assert.deepEqual([taken.status, taken.body.name], [201, "empty"]);
    await client.send({ method: "POST", path: maps, body: { metadata: { name: "later" } } });
    assert.deepEqual((await client.send({ path })).body, { snapshots: [taken.body] });
    const restored = await client.send({ method: "POST", path: `${path}/empty/restore` });
    assert.deepEqual([restored.status, restored.body], [200, taken.body]);
    assert.equal((await client.send({ path: `${maps}/later` })).status, 404);
    const again = await client.send({ method: "POST", path, body: { name: "empty" } });
    assert.deepEqual([again.status, again.body.message], [400, 'name: there is a snapshot "empty" already']);
    assert.equal((await client.send({ method: "DELETE", path: `${path}/empty` })).status, 200);
    assert.equal((await client.send({ method: "POST", path: `${path}/empty/restore` })).status, 404);
  });

  for (const body of [{}, { name: 1 }, { name: "a", more: 1 }, { name: "A/b" }]) {
    test(`takes no snapshot with ${JSON.stringify(body)}`, async () => {
      assert.equal((await client.send({ method: "POST", path: "/testing/snapshots", body })).status, 400);
      assert.deepEqual((await client.send({ path: "/testing/snapshots" })).body, { snapshots: [] });
    });
  }

  const tooMany = { rules: Array.from({ length: 1001 }, () => ({ fault: { type: "gone" } })) };
  const badBodies: [what: string, body: string | object, status: number, message: RegExp][] = [
    ["no list", {}, 400, /^the body must be an object with the field rules, a list$/],
    ["another field", { rules: [], more: 1 }, 400, /^the body must be an object/],
    [
      "a rule that is no object",
      { rules: [1] },
      400,
      /^rules\[0\]: must be an object with the fields match and fault$/,
    ],
    ["an unknown field", { rules: [{ rule: {} }] }, 400, /^rules\[0\].rule: is not known$/],
    [
      "a valid rule before a wrong one",
      { rules: [{ fault: { type: "gone" } }, { fault: {} }] },
      400,
      /^rules\[1\].fault.type: /,
    ],
    [
      "a wrong condition",
      { rules: [{ match: { verb: 1 }, fault: { type: "gone" } }] },
      400,
      /^rules\[0\].match.verb: /,
    ],
    [
      "an impossible rule after a valid one",
      { rules: [{ fault: { type: "gone" } }, { match: { resource: "pod" }, fault: { type: "gone" } }] },
      400,
      /^rules\[1\]\.match\.resource: no resource has the name "pod": use pods$/,
    ],
    ["too many rules", tooMany, 400, /^rules: there can be 1000 at most$/],
    ["damaged YAML", "rules: [", 400, /^the body is not valid: /],
    ["a repeated key", "rules: []\nrules: []\n", 400, /^the body is not valid: /],
    ["a body over 1 MiB", `"${"x".repeat(1 << 20)}"`, 413, /too large/],
  ];
  for (const [what, body, status, message] of badBodies) {
    test(`rejects ${what}, and adds nothing`, async () => {
      const answer = await client.send({ method: "POST", path: "/testing/faults", body });
      assert.equal(answer.status, status);
      assert.match(answer.body.message, message);
      assert.deepEqual(server.faults.list(), []);
    });
  }

  const wrong: [method: string, path: string, status: number][] = [
    ["GET", "/testing/timeline?since=-1", 400],
    ["GET", "/testing/timeline?since=x", 400],
    ["POST", "/testing/timeline", 405],
    ["PUT", "/testing/faults", 405],
    ["GET", "/testing/faults/fault-0", 404],
    ["GET", "/testing/faults/a/b", 404],
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
