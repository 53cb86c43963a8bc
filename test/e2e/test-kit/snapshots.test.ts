/**
 * Snapshots, restores and forks of test servers. Guarantees: the next request after a restore finds the state of the
 * snapshot, also where the server decides by what it has read before; a resourceVersion names one content; clients
 * that continue from before a restore get 410; a fork and its origin do not see each other.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventually, startTestServer, type TestServer, type TestServerOptions } from "../../../src/testing/index.ts";
import { configMap, type KitClient, kitClient } from "../../support/kit-client.ts";
import { http2Watches } from "../../support/watch-connection.ts";

const maps = "/api/v1/namespaces/default/configmaps";

/** Waits for what the server does soon after an answer. */
const until = (condition: () => Promise<boolean>): Promise<true> => eventually(condition, { timeoutMs: 60_000 });

function clientOf(context: TestContext, server: TestServer): KitClient {
  const client = kitClient(server);
  context.after(async () => {
    client.close();
    await server.close();
  });
  return client;
}

async function start(context: TestContext, options: TestServerOptions = {}): Promise<[TestServer, KitClient]> {
  const server = await startTestServer({ controllers: ["*", "-root-ca-certificate-publisher-controller"], ...options });
  return [server, clientOf(context, server)];
}

test("restores objects at new resourceVersions, and leaves equal ones as they are", async (context) => {
  const [server, client] = await start(context);
  for (const name of ["a", "b", "c"]) await client.ok("POST", maps, configMap(name, "1"));
  const snapshot = await server.snapshot();
  const before = (await client.ok("GET", maps)).body;
  await client.ok("PUT", `${maps}/b`, configMap("b", "2"));
  await client.ok("DELETE", `${maps}/c`);
  await client.ok("POST", maps, configMap("d", "1"));
  const changed = (await client.ok("GET", maps)).body;
  await server.restore(snapshot);
  for (const query of ["", "?resourceVersion=0"])
    assert.deepEqual(await client.list(maps + query), ["a=1", "b=1", "c=1"]);
  const after = (await client.ok("GET", maps)).body;
  assert.ok(Number(after.metadata.resourceVersion) > Number(changed.metadata.resourceVersion));
  assert.deepEqual(after.items[0], before.items[0]);
  for (const index of [1, 2]) {
    const [old, now] = [before.items[index], after.items[index]];
    assert.ok(Number(now.metadata.resourceVersion) > Number(changed.metadata.resourceVersion));
    now.metadata.resourceVersion = old.metadata.resourceVersion;
    assert.deepEqual(now, old);
  }
  const url = server.url;
  await server.restore(snapshot);
  assert.deepEqual(
    [server.url, (await client.ok("GET", maps)).body.metadata.resourceVersion],
    [url, after.metadata.resourceVersion],
  );
});

test("watches, exact lists and continued lists from before a restore get 410", async (context) => {
  const [server, client] = await start(context);
  for (const name of ["a", "b", "c"]) await client.ok("POST", maps, configMap(name, "1"));
  const snapshot = await server.snapshot();
  const page = (await client.ok("GET", `${maps}?limit=1`)).body.metadata;
  await client.ok("PUT", `${maps}/b`, configMap("b", "2"));
  const { resourceVersion } = (await client.ok("GET", maps)).body.metadata;
  const watches = http2Watches(server.kubeconfig);
  context.after(() => watches.break());
  const open = (query: string) => {
    const seen: string[] = [];
    const { promise: first, resolve: begun } = Promise.withResolvers<void>();
    const ended = new Promise<string[]>((resolve) => {
      watches.open(`${maps}?watch=1${query}`, {
        event({ type, object }) {
          seen.push(type === "ERROR" ? `${type} ${object.code} ${object.reason}` : `${type} ${object.metadata?.name}`);
          begun();
        },
        end: () => resolve(seen),
      });
    });
    return { first, ended };
  };
  const outcome = (query: string): Promise<string[]> => open(query).ended;
  const running = [
    open("&resourceVersion=0&fieldSelector=metadata.name=a"),
    open(`&resourceVersion=${page.resourceVersion}`),
  ];
  await Promise.all(running.map(({ first }) => first));
  await server.restore(snapshot);
  assert.deepEqual(await Promise.all(running.map(({ ended }) => ended)), [
    ["ADDED a", "ERROR 410 Expired"],
    ["MODIFIED b", "ERROR 410 Expired"],
  ]);
  assert.deepEqual(await outcome(`&resourceVersion=${resourceVersion}`), ["ERROR 410 Expired"]);
  const exact = `${maps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  assert.equal((await client.send("GET", exact)).status, 410);
  assert.equal((await client.send("GET", `${maps}?limit=1&continue=${page.continue}`)).status, 410);
  assert.deepEqual(await client.list(`${maps}?resourceVersion=${resourceVersion}`), ["a=1", "b=1", "c=1"]);
});

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const admission = "/apis/admissionregistration.k8s.io/v1";

async function grant(client: KitClient, user: string): Promise<void> {
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }];
  await client.ok("POST", `${rbac}/clusterroles`, { metadata: { name: user }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
  await client.ok("POST", `${rbac}/clusterrolebindings`, { metadata: { name: user }, roleRef, subjects });
}

async function forbid(client: KitClient): Promise<void> {
  const matchConstraints = {
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  };
  const validations = [{ expression: "object.metadata.name != 'forbidden'" }];
  const policy = { metadata: { name: "p" }, spec: { matchConstraints, validations } };
  await client.ok("POST", `${admission}/validatingadmissionpolicies`, policy);
  const spec = { policyName: "p", validationActions: ["Deny"] };
  await client.ok("POST", `${admission}/validatingadmissionpolicybindings`, { metadata: { name: "p" }, spec });
}

async function define(client: KitClient, plural: string): Promise<void> {
  const kind = plural.slice(0, 1).toUpperCase() + plural.slice(1, -1);
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await client.ok("POST", definitions, {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  await until(async () => (await client.send("GET", things(plural))).status === 200);
}

const things = (plural: string): string => `/apis/example.com/v1/namespaces/default/${plural}`;

test("decisions after a restore are those of the snapshot at once", async (context) => {
  const [server, client] = await start(context);
  const quota = "/api/v1/namespaces/default/resourcequotas";
  const services = "/api/v1/namespaces/default/services";
  const service = (name: string, clusterIP?: string): object => ({
    metadata: { name },
    spec: { ports: [{ port: 80, nodePort: 30100 }], type: "NodePort", ...(clusterIP !== undefined && { clusterIP }) },
  });
  /** What a client can do; each attempt is undone. */
  const abilities = async (): Promise<Record<string, number>> => {
    const attempt = async (path: string, body: object & { metadata?: { name?: string } }, user?: string) => {
      const { status } = await client.send("POST", path, body, user);
      if (status === 201) await client.ok("DELETE", `${path}/${body.metadata?.name}`);
      return status;
    };
    const map = (name: string) => ({ metadata: { name } });
    return {
      ann: await attempt(maps, map("by-ann"), "ann"),
      bob: await attempt(maps, map("by-bob"), "bob"),
      forbidden: await attempt(maps, map("forbidden")),
      secret: await attempt("/api/v1/namespaces/default/secrets", map("s")),
      anvils: (await client.send("GET", things("anvils"))).status,
      bolts: (await client.send("GET", things("bolts"))).status,
      namespace: await attempt("/api/v1/namespaces/team/configmaps", map("in-team")),
      service: await attempt(services, service("other", "10.0.0.77") as { metadata: { name: string } }),
    };
  };
  const empty = await server.snapshot();
  const emptyAbilities = await abilities();
  assert.deepEqual(emptyAbilities, {
    ...{ ann: 403, bob: 403, forbidden: 201, secret: 201, anvils: 404, bolts: 404, namespace: 404, service: 201 },
  });

  await grant(client, "ann");
  await forbid(client);
  await define(client, "anvils");
  await client.ok("POST", things("anvils"), { kind: "Anvil", apiVersion: "example.com/v1", metadata: { name: "one" } });
  await client.ok("POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await client.ok("POST", services, service("holder", "10.0.0.77"));
  await client.ok("POST", quota, { metadata: { name: "none" }, spec: { hard: { "count/secrets": "0" } } });
  const status = async (): Promise<object> => (await client.ok("GET", `${quota}/none`)).body.status;
  await until(async () => "used" in (await status()));
  await until(async () => (await abilities()).forbidden === 422);
  const full = await server.snapshot();
  const fullAbilities = await abilities();
  assert.deepEqual(fullAbilities, {
    ...{ ann: 201, bob: 403, forbidden: 422, secret: 403, anvils: 200, bolts: 404, namespace: 201, service: 422 },
  });

  await server.restore(empty);
  assert.deepEqual(await abilities(), emptyAbilities);
  await grant(client, "bob");
  await define(client, "bolts");
  await server.restore(full);
  assert.deepEqual(await abilities(), fullAbilities);
  assert.deepEqual(await client.list(things("anvils")), ["one="]);
  await server.restore(empty);
  assert.deepEqual(await abilities(), emptyAbilities);
});

test("a fork has the objects and credentials of its origin, and neither sees the other's changes", async (context) => {
  const [server, client] = await start(context);
  await client.ok("POST", maps, configMap("a", "1"));
  await define(client, "anvils");
  await client.ok("POST", things("anvils"), { kind: "Anvil", apiVersion: "example.com/v1", metadata: { name: "one" } });
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await until(async () => (await client.send("GET", `${accounts}/default`)).status === 200);
  const token: string = (await client.ok("POST", `${accounts}/default/token`, { spec: {} })).body.status.token;
  const origin = (await client.ok("GET", `${maps}/a`)).body;

  const fork = await server.fork();
  const inFork = clientOf(context, fork);
  assert.notEqual(fork.port, server.port);
  assert.deepEqual((await inFork.ok("GET", `${maps}/a`)).body, origin);
  assert.deepEqual(await inFork.list(things("anvils")), ["one="]);
  const review = { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec: { token } };
  const reviewed = await inFork.ok("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review);
  assert.equal(reviewed.body.status.user?.username, "system:serviceaccount:default:default");
  // The credentials of the origin are valid in the fork.
  const other = kitClient({ kubeconfig: server.kubeconfig.replace(`:${server.port}`, `:${fork.port}`) });
  context.after(() => other.close());
  await other.ok("PUT", `${maps}/a`, configMap("a", "fork"));
  await client.ok("POST", maps, configMap("b", "origin"));
  assert.deepEqual(await inFork.list(maps), ["a=fork"]);
  assert.deepEqual(await client.list(maps), ["a=1", "b=origin"]);

  const second = await fork.fork();
  const inSecond = clientOf(context, second);
  await inSecond.ok("POST", maps, configMap("c", "second"));
  await fork.close();
  assert.deepEqual(await inSecond.list(maps), ["a=fork", "c=second"]);
  assert.deepEqual(await client.list(maps), ["a=1", "b=origin"]);
  await server.restore(await second.snapshot());
  assert.deepEqual(await client.list(maps), ["a=fork", "c=second"]);
  assert.deepEqual((await inSecond.ok("GET", `${maps}/a`)).body.data, { v: "fork" });
  await assert.rejects(fork.snapshot(), /closed/);
});

test("a snapshot of another server is rejected, and changes nothing", async (context) => {
  const [server, client] = await start(context);
  const [other] = await start(context);
  await client.ok("POST", maps, configMap("a", "1"));
  await assert.rejects(server.restore(await other.snapshot()), /the snapshot is of another server/);
  await assert.rejects(server.restore({ resourceVersion: "1", save: async () => {} }), TypeError);
  assert.deepEqual(await client.list(maps), ["a=1"]);
});

test("a fork does not create what a client has deleted or changed", async (context) => {
  const [server, client] = await start(context);
  const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view";
  const level = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/workload-low";
  await client.ok("DELETE", role);
  await client.ok("DELETE", level);
  const fork = await server.fork();
  const forked = clientOf(context, fork);
  for (const path of [role, level]) assert.equal((await forked.send("GET", path)).status, 404, path);
});
