/**
 * Further test servers of a process, which begin with the state of the first one after its start. Guarantees: they have the
 * objects of an ordinary server, with their own port; neither sees what happens in another one, nor decides by it; their
 * controllers go on as those of an ordinary server; a closed server is not kept in memory.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  eventually,
  stable,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "../../../src/testing/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind.
type Body = any;

async function start(context: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  context.after(() => server.close());
  return server;
}

async function get(server: TestServer, path: string): Promise<Body> {
  return (await server.fetch(path)).json();
}

/** Waits for what controllers do soon. */
const until = (condition: () => Promise<boolean>): Promise<true> => eventually(condition, { timeoutMs: 60_000 });

const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const accounts = "/api/v1/namespaces/default/serviceaccounts";
const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string) => ({ metadata: { name }, data: { v: "1" } });

/** Whether the controllers have finished what they do after a start. */
async function isSettled(server: TestServer): Promise<boolean> {
  const admin = await get(server, `${roles}/admin`);
  const found = [accounts, "/api/v1/namespaces/kube-node-lease/serviceaccounts", "/api/v1/configmaps"];
  const counts = await Promise.all(found.map(async (path) => (await get(server, path)).items.length));
  return admin.rules?.length > 10 && counts[0] === 1 && counts[1] === 1 && counts[2] >= 6;
}

/** The objects of all resources that can be listed, by path. */
async function allObjects(server: TestServer): Promise<Record<string, Body[]>> {
  const versions = ["/api/v1"];
  for (const { preferredVersion } of (await get(server, "/apis")).groups)
    versions.push(`/apis/${preferredVersion.groupVersion}`);
  const found: Record<string, Body[]> = {};
  for (const version of versions)
    for (const { name, verbs } of (await get(server, version)).resources)
      if (verbs.includes("list")) found[`${version}/${name}`] = (await get(server, `${version}/${name}`)).items;
  return found;
}

test("have the objects of a server that starts in full, with their own port", async (context) => {
  const servers = [await start(context, { fullStart: true })];
  for (let count = 0; count < 2; count++) servers.push(await start(context));
  const copies = [];
  for (const server of servers) {
    await until(() => isSettled(server));
    const objects = await allObjects(server);
    const [service] = objects["/api/v1/services"] as [Body];
    assert.equal(service.spec.ports[0].targetPort, server.port);
    const [slice] = objects["/apis/discovery.k8s.io/v1/endpointslices"] as [Body];
    if (slice !== undefined) assert.equal(slice.ports[0].port, server.port);
    const texts = Object.entries(objects).map(([path, items]) => [path, items.map((item) => textOf(server, item))]);
    copies.push(Object.fromEntries(texts));
  }
  for (const copy of copies.slice(1)) assert.deepEqual(copy, copies[0]);
});

/** The object without its port, its authorities, the identity of its process, and its generation, which counts writes. */
function textOf(server: TestServer, item: Body): Body {
  const text = JSON.stringify(stable(item)).replaceAll(new RegExp(`\\b${server.port}\\b`, "g"), "0");
  return JSON.parse(text, (key, value) => {
    if (key === "generation") return undefined;
    if (typeof value === "string" && value.startsWith("-----BEGIN CERTIFICATE")) return "<certificate>";
    return key === "holderIdentity" ? value.replace(/_.*/, "") : value;
  });
}

test("share credentials of the first, unless they start in full", async (context) => {
  const [first, further, full] = [
    await start(context),
    await start(context),
    await start(context, { fullStart: true }),
  ];
  const authority = (server: TestServer) => /certificate-authority-data: (.*)/.exec(server.kubeconfig)?.[1];
  assert.equal(authority(further), authority(first));
  assert.notEqual(authority(full), authority(first));
  await assert.rejects(first.restore(await further.snapshot()), /the snapshot is of another server/);
  await assert.rejects(further.restore(await first.snapshot()), /the snapshot is of another server/);
});

test("do not see each other's writes, roles, tokens and addresses", async (context) => {
  const [one, other] = [await start(context), await start(context)];
  const post = (server: TestServer, path: string, body: object) => server.fetch(path, { method: "POST", body });
  for (const server of [one, other]) {
    await until(() => isSettled(server));
    assert.equal((await post(server, maps, map("own"))).status, 201);
  }
  await post(one, maps, map("of-one"));
  assert.equal((await other.fetch(`${maps}/of-one`)).status, 404);

  const as = { user: "jane" };
  const grant = {
    metadata: { name: "jane" },
    subjects: [{ kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" }],
    roleRef: { kind: "ClusterRole", name: "cluster-admin", apiGroup: "rbac.authorization.k8s.io" },
  };
  const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  assert.equal((await post(one, bindings, grant)).status, 201);
  assert.deepEqual([(await one.fetch(maps, { as })).status, (await other.fetch(maps, { as })).status], [200, 403]);

  const { token } = (await (await post(one, `${accounts}/default/token`, { spec: {} })).json()).status;
  const review = { spec: { token } };
  const reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
  const authenticated = async (server: TestServer): Promise<boolean> =>
    (await (await post(server, reviews, review)).json()).status.authenticated === true;
  await other.fetch(`${accounts}/default`, { method: "DELETE" });
  assert.deepEqual([await authenticated(one), await authenticated(other)], [true, false]);

  const services = "/api/v1/namespaces/default/services";
  const service = { metadata: { name: "a" }, spec: { clusterIP: "10.0.0.77", ports: [{ port: 80 }] } };
  assert.deepEqual(
    [(await post(one, services, service)).status, (await post(other, services, service)).status],
    [201, 201],
  );
});

test("their controllers repair what a client breaks, and follow its changes", async (context) => {
  await start(context);
  const server = await start(context);
  const account = (await get(server, `${accounts}/default`)).metadata;
  await server.fetch(`${accounts}/default`, { method: "DELETE" });
  await until(async () => ![account.uid, undefined].includes((await get(server, `${accounts}/default`)).metadata?.uid));
  const rule = { apiGroups: ["a.example"], resources: ["things"], verbs: ["get"] };
  const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
  await server.fetch(roles, { method: "POST", body: { metadata: { name: "things", labels }, rules: [rule] } });
  await until(async () => JSON.stringify((await get(server, `${roles}/admin`)).rules).includes("a.example"));
});

test("servers that start at once, with equal and different options", async (context) => {
  const options = [
    {},
    { eventTtlSeconds: 60 },
    {},
    { eventTtlSeconds: 60 },
    { authorizationModes: ["AlwaysAllow"] },
    {},
  ];
  const servers = await Promise.all(options.map((one) => start(context, one)));
  assert.equal(new Set(servers.map(({ port }) => port)).size, options.length);
  const as = { user: "jane" };
  const allowed = await Promise.all(servers.map(async (server) => (await server.fetch(maps, { as })).status === 200));
  assert.deepEqual(allowed, [false, false, false, false, true, false]);
});

test("a start that fails is not kept", async (context) => {
  const options = { featureGates: "NoSuchGate=true" };
  for (let attempt = 0; attempt < 2; attempt++)
    await assert.rejects(startTestServer(options), /unrecognized feature gate: NoSuchGate/);
  await start(context);
});

test("closed servers are not kept in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const startAndClose = async (): Promise<WeakRef<object>[]> => {
    const server = await startTestServer({ eventTtlSeconds: 61 });
    await server.close();
    return [new WeakRef(server), new WeakRef(server.timeline)];
  };
  const closed: WeakRef<object>[] = [];
  for (let count = 0; count < 4; count++) closed.push(...(await startAndClose()));
  const held = (): number => closed.filter((one) => one.deref() !== undefined).length;
  for (let attempt = 0; attempt < 20 && held() > 0; attempt++) {
    await new Promise(setImmediate); // Until then a reference holds what it was made for.
    collect();
  }
  assert.equal(held(), 0);
});
