/** What a fixture adds for one test, and removes after it. */
import assert from "node:assert/strict";
import * as runner from "node:test";
import * as k8s from "@kubernetes/client-node";
import {
  configMap,
  customResourceDefinition,
  eventually,
  object,
  startTestServer,
  useTestServer,
  virtualClock,
} from "../../../src/testing/index.ts";

const { describe, mock, test } = runner;
const kit = useTestServer(runner, { setup: (server) => server.install(configMap("prepared")) });
const maps = "/api/v1/namespaces/default/configmaps";
const statusOf = async (path: string): Promise<number> => (await kit.server.fetch(path)).status;

describe("webhooks and installations end with their test", () => {
  let former = "";
  test("in one test", async () => {
    former = await kit.namespace();
    await kit.webhook({ validating: { rules: [{ resources: ["configmaps"] }] } }, () => ({ denied: "no" }));
    const { objects } = await kit.install([customResourceDefinition("ends.example.com", "End")]);
    assert.equal(objects.length, 1);
    const creation = await kit.server.fetch(maps, { method: "POST", body: configMap("denied") });
    assert.equal(creation.status, 403);
  });
  test("and not in the next", async () => {
    await kit.install(configMap("denied"));
    assert.equal(await statusOf("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ends.example.com"), 404);
    await eventually(async () => (await statusOf(`/api/v1/namespaces/${former}`)) === 404);
  });
  test("also in nested ones", async (t) => {
    await t.test("inner", async () => void (await kit.install(configMap("inner"))));
    assert.equal(await statusOf(`${maps}/inner`), 404);
  });
});

describe("clients", () => {
  test("a ServiceAccount has a token, and the rights of RBAC", async () => {
    const namespace = await kit.namespace();
    const operator = await kit.as({ serviceAccount: "operator", namespace });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const denied = await operator.fetch(path);
    assert.match((await denied.json()).message, /User "system:serviceaccount:test-\d+:operator" cannot list/);
    const subjects = [{ kind: "ServiceAccount", name: "operator", namespace }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" };
    const binding = { metadata: { namespace }, roleRef, subjects };
    await kit.install(object("rbac.authorization.k8s.io/v1", "RoleBinding", "operator", binding));
    assert.equal((await operator.fetch(path)).status, 200);
    const core = operator.kubeConfig(k8s.KubeConfig).makeApiClient(k8s.CoreV1Api);
    assert.ok(await core.listNamespacedConfigMap({ namespace }));
    assert.equal(
      JSON.parse(Buffer.from(operator.token?.split(".")[1] ?? "", "base64url").toString()).sub,
      `system:serviceaccount:${namespace}:operator`,
    );
  });

  test("an account that the kit has created is deleted after the test", async (t) => {
    await t.test("inner", async () => {
      await kit.as({ serviceAccount: "temporary" });
      assert.equal(await statusOf("/api/v1/namespaces/default/serviceaccounts/temporary"), 200);
      await kit.as({ serviceAccount: "default" });
    });
    assert.equal(await statusOf("/api/v1/namespaces/default/serviceaccounts/temporary"), 404);
    assert.equal(await statusOf("/api/v1/namespaces/default/serviceaccounts/default"), 200);
  });

  test("a user has a certificate, and no token", async () => {
    const ann = await kit.as({ user: "ann", groups: ["system:masters"] });
    assert.equal(ann.token, undefined);
    assert.equal((await ann.fetch(`${maps}?limit=1`)).status, 200);
    assert.match(ann.kubeconfig, /client-certificate-data/);
    await assert.rejects(kit.as({ user: "" }), /a user needs a name/);
    await assert.rejects(kit.as({ serviceAccount: "" }), /a ServiceAccount needs a name/);
  });

  test("a token expires by the clock of the server", async () => {
    const clock = virtualClock();
    const server = await startTestServer({ clock });
    try {
      const client = await server.as({ serviceAccount: "late", expirationSeconds: 600 });
      assert.equal((await client.fetch("/api/v1/nodes")).status, 403);
      await clock.advance("11m");
      assert.equal((await client.fetch("/api/v1/nodes")).status, 401);
    } finally {
      await server.close();
    }
  });
});

describe("finalizers", () => {
  const held = (name: string) => configMap(name, { metadata: { finalizers: ["example.com/cleanup"] } });
  let former = "";
  const warn = mock.method(console, "warn", () => {});
  runner.after(() => warn.mock.restore());

  test("of the namespace of a test", async () => {
    former = await kit.namespace();
    await kit.server.install(held("held"), { namespace: former });
    warn.mock.resetCalls();
  });
  test("are removed after it, named in a warning, and do not come into a fork", async () => {
    assert.deepEqual(
      warn.mock.calls.map(({ arguments: [line] }) => line),
      [
        `Removed finalizers that nothing else removed, so that the test can end: configmaps ${former}/held (example.com/cleanup)`,
      ],
    );
    const fork = await kit.fork();
    assert.equal((await fork.fetch(`/api/v1/namespaces/${former}`)).status, 404);
    warn.mock.resetCalls();
  });
  test("that a controller removes in time are not named", async (t) => {
    const ended = new AbortController();
    t.after(() => ended.abort());
    await t.test("inner", async () => {
      const namespace = await kit.namespace();
      await kit.server.install(held("handled"), { namespace });
      await removeFinalizers(`/api/v1/namespaces/${namespace}/configmaps`, ended.signal);
    });
    assert.deepEqual(warn.mock.calls, []);
  });
});

/** A controller: removes finalizers of objects that are deleted. Resolves when it watches. */
async function removeFinalizers(path: string, signal: AbortSignal): Promise<void> {
  const { body } = await kit.server.fetch(`${path}?watch=1`, { signal });
  void (async () => {
    for await (const piece of body ?? [])
      for (const line of Buffer.from(piece).toString().split("\n").filter(Boolean)) {
        const { metadata } = JSON.parse(line).object;
        if (metadata.deletionTimestamp === undefined || metadata.finalizers === undefined) continue;
        const patch = { metadata: { finalizers: null } };
        await kit.server.fetch(`${path}/${metadata.name}`, { method: "PATCH", body: patch });
      }
  })().catch(() => {}); // The watch was ended.
}

describe("forks", () => {
  test("can begin with the prepared state", async () => {
    await kit.install(configMap("later"));
    const fork = await kit.fork(undefined, kit.prepared);
    assert.equal((await fork.fetch(`${maps}/prepared`)).status, 200);
    assert.equal((await fork.fetch(`${maps}/later`)).status, 404);
    const now = await kit.fork();
    assert.equal((await now.fetch(`${maps}/later`)).status, 200);
  });

  test("do not begin with a snapshot of another server", async () => {
    const other = await startTestServer({ fullStart: true });
    try {
      await assert.rejects(kit.fork(undefined, await other.snapshot()), /the snapshot is of another server/);
    } finally {
      await other.close();
    }
  });
});

for (const argument of [{}, undefined, "node:test", { before() {}, after() {} }, { beforeAll() {}, beforeEach() {} }])
  test(`useTestServer rejects ${JSON.stringify(argument)} with a clear error`, () => {
    assert.throws(() => useTestServer(argument as never), {
      name: "TypeError",
      message: /^useTestServer needs the module of the test runner, such as: import \* as runner from "node:test"\./,
    });
  });
