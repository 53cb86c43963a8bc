import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ExtensionServer, extensionServers } from "../../../../test/support/extension-servers.ts";
import { passTurns } from "../../../../test/support/pass-turns.ts";
import { type RemoteStubs, remoteApiService, remoteStubs } from "../../../../test/support/stub-backends.ts";
import type { ApiServiceView } from "../contract.ts";
import { type OpenRemoteDiscovery, openRemoteDiscovery } from "./remote-discovery.ts";

interface Setup extends RemoteStubs {
  readonly discovery: OpenRemoteDiscovery;
}

function open(t: TestContext, servers: Readonly<Record<string, ExtensionServer>>, views: ApiServiceView[] = []): Setup {
  const stubs = remoteStubs(servers, views);
  const discovery = openRemoteDiscovery(stubs);
  t.after(() => discovery.close());
  return { discovery, ...stubs };
}

async function settle(): Promise<void> {
  await passTurns(20);
}

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const document = (version: object, group = "a.example.com"): string =>
  JSON.stringify({ items: [{ metadata: { name: group }, versions: [version] }] });
/** Answers `/apis` with this text; the plain documents do not exist. */
const aggregating =
  (body: string, type = aggregatedType, etag?: string): ExtensionServer =>
  (path) =>
    path === "/apis" ? { status: 200, type, body, ...(etag !== undefined && { etag }) } : { status: 404, body: "" };
const plain =
  (body: string): ExtensionServer =>
  (path) =>
    path === "/apis" ? { status: 406, body: "" } : { status: 200, type: "application/json", body };

const kind = { group: "", version: "", kind: "" };
const things = { resource: "things", responseKind: kind, scope: "", singularResource: "", verbs: null };

const rows: [title: string, server: ExtensionServer, resources: object[], freshness: string][] = [
  [
    "its own group version",
    aggregating(document({ version: "v1", resources: [{ resource: "things" }] })),
    [things],
    "Current",
  ],
  ["v2beta1", aggregating(document({ version: "v1" }), aggregatedType.replace("v=v2", "v=v2beta1")), [], "Current"],
  ["a charset", aggregating(document({ version: "v1" }), `${aggregatedType};charset=utf-8`), [], "Current"],
  ["no group version", aggregating("{}"), [], "Current"],
  ["another group", aggregating(document({ version: "v1", resources: [{ resource: "pods" }] }, "apps")), [], "Current"],
  ["another version", aggregating(document({ version: "v2", resources: [{ resource: "things" }] })), [], "Current"],
  [
    "names like __proto__",
    aggregating('{"items":[{"metadata":{"name":"__proto__"},"versions":[{"version":"constructor"}]}]}'),
    [],
    "Current",
  ],
  ["text that is not JSON", aggregating("<html>"), [], "Stale"],
  ["another kind", aggregating('{"kind":"Status","apiVersion":"v1"}'), [], "Stale"],
  ["fields of other types", aggregating('{"items":{"a":1}}'), [], "Stale"],
  ["deep nesting", aggregating(`{"items":${"[".repeat(100_000)}`), [], "Stale"],
  ["a huge document", aggregating(" ".repeat(5 * 1024 * 1024)), [], "Stale"],
  ["many resources", aggregating(document({ version: "v1", resources: Array(10_001).fill({}) })), [], "Stale"],
  [
    "many subresources",
    aggregating(document({ version: "v1", resources: [{ subresources: Array(50_001).fill({}) }] })),
    [],
    "Stale",
  ],
  ["many groups", aggregating(JSON.stringify({ items: Array(50_001).fill({}) })), [], "Stale"],
  ["a plain list of many resources", plain(JSON.stringify({ resources: Array(50_001).fill({}) })), [], "Stale"],
  ["no answer", () => "hang", [], "Stale"],
  ["503", () => ({ status: 503, body: "" }), [], "Stale"],
  ["404", () => ({ status: 404, body: "" }), [], "Stale"],
  ["304 without a condition", () => ({ status: 304, body: "" }), [], "Current"],
  [
    "a plain list",
    plain('{"kind":"APIResourceList","apiVersion":"v1","resources":[{"name":"things"}]}'),
    [{ ...things, scope: "Cluster" }],
    "Current",
  ],
  ["an empty plain list", plain("{}"), [], "Current"],
  ["a plain list of another kind", plain('{"kind":"PodList","apiVersion":"v1"}'), [], "Stale"],
  [
    "a subresource with another scope",
    plain('{"resources":[{"name":"things","namespaced":true},{"name":"things/status"}]}'),
    [],
    "Stale",
  ],
];

for (const [title, server, resources, freshness] of rows) {
  test(`a server that sends ${title} is ${freshness}`, async (t) => {
    const { discovery, warnings } = open(t, { server }, [remoteApiService("v1.a.example.com", "server")]);
    assert.equal(discovery.find("a.example.com", "v1"), undefined);
    await settle();
    assert.deepEqual(discovery.find("a.example.com", "v1"), { resources, freshness });
    assert.equal(discovery.find("apps", "v1"), undefined);
    assert.equal(discovery.generation, 1);
    for (const warning of warnings) assert.ok(warning.length < 2000, warning);
  });
}

test("fetches one document for all APIServices of a Service", async (t) => {
  const views = ["v1", "v1beta1", "v9"].map((version) => remoteApiService(`${version}.fast.example.com`, "fast"));
  const { discovery, backends } = open(t, extensionServers, views);
  await settle();
  const lengthOf = (version: string): unknown => discovery.find("fast.example.com", version)?.resources.length;
  assert.deepEqual(["v1", "v1beta1", "v9"].map(lengthOf), [2, 1, 1]);
  assert.deepEqual(
    [...new Set(backends.calls.map(({ path, user }) => `${path} ${user}`))],
    ["/apis system:kube-aggregator"],
  );
});

test("fetches again after a minute, with the entity tag of the last answer", async (t) => {
  const first = aggregating(document({ version: "v1", resources: [{ resource: "things" }] }), aggregatedType, '"one"');
  const { discovery, backends, clock } = open(t, { server: first }, [remoteApiService("v1.a.example.com", "server")]);
  await settle();
  backends.servers.server = (_, headers) => ({ status: headers["if-none-match"] === '"one"' ? 304 : 500, body: "" });
  clock.advance(59_999);
  await settle();
  assert.equal(backends.calls.length, 1);
  clock.advance(1);
  await settle();
  assert.equal(backends.calls.length, 2);
  assert.deepEqual(discovery.find("a.example.com", "v1"), { resources: [things], freshness: "Current" });
  assert.equal(discovery.generation, 1, "nothing changed");
});

test("asks for the whole document when it was fetched for other APIServices", async (t) => {
  const versions = ["v1", "v2"].map((version) => ({ version, resources: [{ resource: version }] }));
  const body = JSON.stringify({ items: [{ metadata: { name: "a.example.com" }, versions }] });
  const server: ExtensionServer = (_, headers) =>
    headers["if-none-match"] === '"one"'
      ? { status: 304, body: "" }
      : { status: 200, type: aggregatedType, body, etag: '"one"' };
  const { discovery, apiServices } = open(t, { server }, [remoteApiService("v1.a.example.com", "server")]);
  await settle();
  apiServices.put(remoteApiService("v2.a.example.com", "server"));
  await settle();
  const found = discovery.find("a.example.com", "v2")?.resources[0] as { resource?: string } | undefined;
  assert.equal(found?.resource, "v2");
});

test("the documents of all servers have a limit together", async (t) => {
  const names = ["a", "b", "c"];
  const large = (group: string): ExtensionServer =>
    aggregating(
      document({ version: "v1", resources: [{ resource: "x".repeat(3 << 20), verbs: [] }] }, `${group}.example.com`),
    );
  const { discovery, warnings, apiServices, clock } = open(
    t,
    Object.fromEntries(names.map((name) => [name, large(name)])),
    names.map((name) => remoteApiService(`v1.${name}.example.com`, name)),
  );
  const fresh = (): unknown[] => names.map((name) => discovery.find(`${name}.example.com`, "v1")?.freshness);
  await settle();
  assert.deepEqual(fresh(), ["Current", "Current", "Stale"]);
  assert.match(warnings.join(), /the documents of all servers have more than 8388608 bytes/);
  apiServices.delete("v1.a.example.com");
  clock.advance(60_000);
  await settle();
  assert.deepEqual(fresh(), [undefined, "Current", "Current"]);
});

test("does not send an entity tag that is not one", async (t) => {
  const server = aggregating("{}", aggregatedType, '"a"\r\nx-remote-user: admin');
  const { backends, clock } = open(t, { server }, [remoteApiService("v1.a.example.com", "server")]);
  await settle();
  clock.advance(60_000);
  await settle();
  assert.deepEqual(
    backends.calls.map(({ headers }) => headers["if-none-match"]),
    [undefined, undefined],
  );
});

test("retries failures after 500 ms, later and later, and at least every minute", async (t) => {
  const { discovery, backends, clock } = open(t, {}, [remoteApiService("v1.a.example.com", "server")]);
  await settle();
  const delays: number[] = [];
  for (let count = 1; count < 10; count += 1) {
    let waited = 0;
    for (; backends.calls.length === count; waited += 500) {
      clock.advance(500);
      await settle();
    }
    delays.push(waited);
  }
  assert.deepEqual(delays, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  backends.servers.server = aggregating("{}");
  clock.advance(60_000);
  await settle();
  assert.equal(discovery.find("a.example.com", "v1")?.freshness, "Current");
});

test("loses the resources of a server that fails later", async (t) => {
  const server = aggregating(document({ version: "v1", resources: [{ resource: "things" }] }));
  const { discovery, backends, clock } = open(t, { server }, [remoteApiService("v1.a.example.com", "server")]);
  await settle();
  delete backends.servers.server;
  clock.advance(60_000);
  await settle();
  assert.deepEqual(discovery.find("a.example.com", "v1"), { resources: [], freshness: "Stale" });
});

test("fetches when an APIService changes, and forgets it when it is deleted or becomes local", async (t) => {
  const { discovery, backends, apiServices } = open(t, { server: aggregating("{}") });
  await settle();
  assert.equal(backends.calls.length, 0);
  const view = remoteApiService("v1.a.example.com", "server");
  apiServices.put(view);
  await settle();
  apiServices.put({ ...view, resourceVersion: "2" });
  await settle();
  assert.equal(backends.calls.length, 2);
  const { service: _, ...rest } = view;
  apiServices.put({ ...rest, service: undefined });
  await settle();
  assert.equal(discovery.find("a.example.com", "v1"), undefined);
  apiServices.put(view);
  await settle();
  apiServices.delete("v1.a.example.com");
  await settle();
  assert.equal(discovery.find("a.example.com", "v1"), undefined);
  assert.equal(backends.calls.length, 3);
});

test("asks at most two servers at the same time, and the others when one of them hangs", async (t) => {
  const views = ["a", "b", "c", "d"].map((name) => remoteApiService(`v1.${name}.example.com`, name));
  const { apiServices, backends } = open(t, {});
  const waiting: (() => void)[] = [];
  const get = backends.get.bind(backends);
  let [open_, most] = [0, 0];
  backends.get = async (remote, request) => {
    most = Math.max(most, ++open_);
    if (remote.service.name === "a") await new Promise<void>((resolve) => waiting.push(resolve));
    return get(remote, request).finally(() => (open_ -= 1));
  };
  for (const view of views) apiServices.put(view);
  await settle();
  assert.deepEqual(
    backends.calls.map(({ server }) => server),
    ["b", "c", "d"],
  );
  assert.equal(most, 2);
  for (const end of waiting) end();
});
