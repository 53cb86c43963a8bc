/**
 * A server whose store has damaged records: it starts, serves intact objects, and reports damaged
 * ones.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { damageStore } from "../support/damage-store.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const dataDir = join(mkdtempSync(join(tmpdir(), "coxswain-damaged-objects-")), "data");
const options = {
  dataDir,
  storage: "lmdb",
  durability: "relaxed",
  securePort: 0,
  controllers: ["*"],
  featureGates: "AllowUnsafeMalformedObjectDeletion=true",
} as const;
const configMaps = "/api/v1/namespaces/default/configmaps";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const damagedKeys = [
  "/registry/apiextensions.k8s.io/customresourcedefinitions/lost.example.com",
  "/registry/clusterrolebindings/of-eve",
  "/registry/clusterrolebindings/system:basic-user",
  "/registry/clusterroles/cluster-admin",
  "/registry/clusterroles/theirs",
  "/registry/configmaps/default/damaged",
  "/registry/namespaces/default",
  "/registry/services/specs/default/kubernetes",
];
let server: TestServer;
let admin: RawClient;
const logged: string[] = [];

const send = (client: RawClient, method: string, path: string, body?: object) =>
  client.send({ method, path, ...(body && { body }) });

async function as<Answer>(user: string, ask: (client: RawClient) => Promise<Answer>): Promise<Answer> {
  const client = rawClient((await server.as(user)).kubeconfig);
  try {
    return await ask(client);
  } finally {
    client.close();
  }
}

async function mayRead(user: string): Promise<boolean> {
  const { status } = await as(user, (client) => send(client, "GET", `${configMaps}/whole`));
  return status === 200;
}

function bind(user: string, role: string): Promise<unknown> {
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
  return send(admin, "POST", `${rbac}/clusterrolebindings`, { metadata: { name: `of-${user}` }, roleRef, subjects });
}

function definition(plural: string): object {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const versions = [{ name: "v1", served: true, storage: true, schema }];
  const names = { plural, singular: plural, kind: kindOf(plural) };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: { group: "example.com", scope: "Namespaced", names, versions },
  };
}

function customObject(plural: string): object {
  return { apiVersion: "example.com/v1", kind: kindOf(plural), metadata: { name: "a" } };
}

function kindOf(plural: string): string {
  return plural === "kept" ? "Kept" : "Lost";
}

/** Creates objects, some of which are damaged later, and checks what they grant. */
async function createAll(): Promise<void> {
  for (const name of ["whole", "damaged"])
    await send(admin, "POST", configMaps, { metadata: { name }, data: { text: "secret words ".repeat(50) } });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  for (const name of ["ours", "theirs"])
    await send(admin, "POST", `${rbac}/clusterroles`, { metadata: { name }, rules });
  for (const plural of ["kept", "lost"]) {
    assert.equal((await send(admin, "POST", definitions, definition(plural))).status, 201);
    const path = `/apis/example.com/v1/namespaces/default/${plural}`;
    await eventually(
      "the kind is served",
      async () => (await send(admin, "POST", path, customObject(plural))).status === 201,
    );
  }
  await bind("ann", "ours");
  await bind("bob", "theirs");
  await bind("eve", "ours");
  for (const user of ["ann", "bob", "eve"]) assert.ok(await mayRead(user), user);
}

before(async () => {
  server = await startTestServer(options);
  admin = rawClient(server.kubeconfig);
  try {
    await createAll();
  } finally {
    admin.close(); // The hook below does not run after a failure here.
    await server.close();
  }
  assert.deepEqual(await damageStore(dataDir, (key) => damagedKeys.includes(key)), damagedKeys);
  const log = (message: string, values: object = {}): void => void logged.push(`${message} ${JSON.stringify(values)}`);
  server = await startTestServer({ ...options, logger: { info() {}, warn: log, error: log } });
  admin = rawClient(server.kubeconfig);
});
after(async () => {
  admin.close();
  await server.close();
  rmSync(join(dataDir, ".."), { recursive: true, force: true });
});

test("logs each damaged record with its key", () => {
  for (const key of damagedKeys)
    assert.ok(
      logged.some((line) => line.startsWith("Found damage in the store") && line.includes(`"key":"${key}"`)),
      key,
    );
});

test("creates damaged bootstrap objects again", async () => {
  for (const path of [
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/services/kubernetes",
    `${rbac}/clusterroles/cluster-admin`,
    `${rbac}/clusterrolebindings/system:basic-user`,
  ])
    assert.equal((await send(admin, "GET", path)).status, 200, path);
});

test("a damaged role or binding grants nothing, and others grant their permissions", async () => {
  assert.deepEqual([await mayRead("ann"), await mayRead("bob"), await mayRead("eve")], [true, false, false]);
  await bind("joe", "ours");
  assert.ok(await mayRead("joe"));
  await send(admin, "DELETE", `${rbac}/clusterrolebindings/of-joe`);
  assert.equal(await mayRead("joe"), false);
});

test("serves the kinds of other definitions, and keeps the objects of a damaged one", async () => {
  assert.equal((await send(admin, "GET", "/apis/example.com/v1/namespaces/default/kept/a")).status, 200);
  assert.equal((await send(admin, "GET", "/apis/example.com/v1/namespaces/default/lost/a")).status, 404);
  const one = await send(admin, "GET", `${definitions}/lost.example.com`);
  assert.match(one.text, /the stored record is damaged: the checksum does not match/);
});

test("controllers work in other namespaces than that of a damaged object", async () => {
  await send(admin, "POST", "/api/v1/namespaces", { metadata: { name: "later" } });
  const path = "/api/v1/namespaces/later/configmaps/kube-root-ca.crt";
  await eventually("the controller publishes the CA", async () => (await send(admin, "GET", path)).status === 200);
  await send(admin, "DELETE", path);
  await eventually(
    "the controller publishes the CA again",
    async () => (await send(admin, "GET", path)).status === 200,
  );
  const owned = { apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "00000000-0000-4000-8000-000000000000" };
  const dependent = { metadata: { name: "dependent", ownerReferences: [owned] } };
  await send(admin, "POST", "/api/v1/namespaces/later/configmaps", dependent);
  await eventually(
    "the dependent is collected",
    async () => (await send(admin, "GET", "/api/v1/namespaces/later/configmaps/dependent")).status === 404,
  );
});

test("names a damaged object without its contents, serves others of its kind, and can delete it", async () => {
  const why = "the stored record is damaged: the checksum does not match";
  const one = await send(admin, "GET", `${configMaps}/damaged`);
  assert.equal(one.status, 500);
  assert.match(one.text, new RegExp(`Key: /configmaps/default/damaged, .*${why}`));
  const list = await send(admin, "GET", configMaps);
  assert.equal(list.status, 500);
  assert.match(
    list.text,
    new RegExp(`"reason":"StorageReadError".*${why}.*"field":"/registry/configmaps/default/damaged"`),
  );
  assert.doesNotMatch(one.text + list.text, /secret words/);
  assert.equal((await send(admin, "GET", `${configMaps}/whole`)).status, 200);
  assert.equal((await send(admin, "PUT", `${configMaps}/whole`, { metadata: { name: "whole" } })).status, 200);
  const { text: metrics } = await send(admin, "GET", "/metrics");
  assert.match(metrics, /apiserver_storage_decode_errors_total\{group="",resource="configmaps"\} [1-9]/);

  const unsafe = { kind: "DeleteOptions", apiVersion: "v1", ignoreStoreReadErrorWithClusterBreakingPotential: true };
  assert.equal((await send(admin, "DELETE", `${configMaps}/damaged`, unsafe)).status, 200);
  const later = await send(admin, "GET", configMaps);
  assert.equal(later.status, 200);

  // A watch cannot show the deletion, because the deleted object cannot be read.
  const { resourceVersion } = (await send(admin, "GET", "/api/v1/namespaces/default")).body.metadata;
  const watch = await send(admin, "GET", `${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`);
  assert.match(watch.text, /"code":410/);
});

test("starts when every object is damaged", async (t) => {
  const all = join(dataDir, "..", "all");
  await (await startTestServer({ ...options, dataDir: all })).close();
  assert.ok((await damageStore(all, () => true)).length > 100);
  const started = await startTestServer({ ...options, dataDir: all });
  const client = rawClient(started.kubeconfig);
  t.after(async () => {
    client.close();
    await started.close();
  });
  const statuses: number[] = [];
  for (const path of [
    "/readyz",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default/services/kubernetes",
    `${rbac}/clusterroles`,
  ])
    statuses.push((await send(client, "GET", path)).status);
  assert.deepEqual(statuses, [200, 200, 200, 200]);
});
