import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ExtensionServer, extensionServers } from "../../../../test/support/extension-servers.ts";
import { passTurns } from "../../../../test/support/pass-turns.ts";
import { type RemoteStubs, remoteApiService, remoteStubs } from "../../../../test/support/stub-backends.ts";
import { until } from "../../../../test/support/until.ts";
import type { Clock } from "../../../apimachinery/clock.ts";
import type { ApiServiceView } from "../contract.ts";
import { type OpenRemoteOpenApi, openRemoteOpenApi } from "./remote-openapi.ts";

interface Setup extends RemoteStubs {
  readonly openApi: OpenRemoteOpenApi;
  /** How many timers wait. */
  waiting(): number;
}

function open(t: TestContext, servers: Readonly<Record<string, ExtensionServer>>, views: ApiServiceView[] = []): Setup {
  const stubs = remoteStubs(servers, views);
  let waiting = 0;
  const after: Clock["after"] = (delayMs, run) => {
    waiting++;
    let isOver = false;
    const end = (): void => {
      if (!isOver) waiting--;
      isOver = true;
    };
    const cancel = stubs.clock.after(delayMs, () => {
      end();
      run();
    });
    return () => {
      end();
      cancel();
    };
  };
  const openApi = openRemoteOpenApi({ ...stubs, clock: { ...stubs.clock, after } });
  t.after(() => openApi.close());
  return { openApi, waiting: () => waiting, ...stubs };
}

/** Waits until servers were asked so often, and all APIServices wait for the next time. */
async function asked({ backends, apiServices, waiting }: Setup, times: number): Promise<void> {
  await until(() => backends.calls.length >= times && waiting() === apiServices.remotes().length);
}

const view = remoteApiService("v1.a.example.com", "server");
const json = (body: object | string, etag?: string) => ({
  status: 200,
  body: typeof body === "string" ? body : JSON.stringify(body),
  ...(etag !== undefined && { etag }),
});
const notFound = { status: 404, body: "" };

const hostile: [title: string, v2: ReturnType<typeof json> | "hang"][] = [
  ["text that is not JSON", json("<html>")],
  ["a list", json([])],
  ["paths of another type", json({ paths: { "/a": [] } })],
  ["deep nesting", json(`{"definitions":${'{"a":'.repeat(600)}{}${"}".repeat(600)}}`)],
  ["deeper nesting", json("[".repeat(1_000_000))],
  ["a huge document", json(" ".repeat(9 * 1024 * 1024))],
  ["many objects", json({ definitions: { A: { allOf: Array(50_001).fill({}) } } })],
  ["an error", { status: 500, body: "" }],
  ["304 without a condition", { status: 304, body: "" }],
  ["no answer", "hang"],
];

for (const [title, v2] of hostile) {
  test(`a server that sends ${title} has no document`, async (t) => {
    const setup = open(t, { server: (path) => (path === "/openapi/v2" ? v2 : notFound) }, [view]);
    setup.clock.advance(1000);
    await asked(setup, 2);
    assert.deepEqual(setup.openApi.documents(), []);
    assert.equal(setup.openApi.entries().size, 0);
    assert.equal(setup.warnings.length, 1);
    assert.ok((setup.warnings[0] as string).length < 2000);
  });
}

const urls: [sent: unknown, served: string][] = [
  [{ serverRelativeURL: "/openapi/v3/apis/a.example.com/v1?hash=A1" }, "/openapi/v3/apis/a.example.com/v1?hash=A1"],
  [{ serverRelativeURL: "https://evil.example.com/" }, "/openapi/v3/apis/a.example.com/v1"],
  [{ serverRelativeURL: "/openapi/v3/apis/apps/v1?hash=1" }, "/openapi/v3/apis/a.example.com/v1"],
  [{ serverRelativeURL: "/openapi/v3/apis/a.example.com/v1?hash=<b>" }, "/openapi/v3/apis/a.example.com/v1"],
  [{ serverRelativeURL: `/openapi/v3/apis/a.example.com/v1?${"a".repeat(2000)}` }, "/openapi/v3/apis/a.example.com/v1"],
  [{ serverRelativeURL: 1 }, "/openapi/v3/apis/a.example.com/v1"],
  [null, "/openapi/v3/apis/a.example.com/v1"],
];

for (const [sent, served] of urls) {
  test(`the index has ${served} for ${JSON.stringify(sent).slice(0, 80)}`, async (t) => {
    const index = json({
      paths: { "apis/a.example.com/v1": sent, "apis/apps/v1": sent, version: sent, "api/v1": sent },
    });
    const setup = open(t, { server: (path) => (path === "/openapi/v3" ? index : notFound) }, [view]);
    setup.clock.advance(1000);
    await asked(setup, 2);
    const entries = [...setup.openApi.entries()].map(([path, { serverRelativeUrl }]) => [path, serverRelativeUrl]);
    assert.deepEqual(entries, [["apis/a.example.com/v1", served]]);
  });
}

test("a server describes the group versions of its own APIServices only", async (t) => {
  const views = [remoteApiService("v1.a.example.com", "server"), remoteApiService("v1.b.example.com", "other")];
  const both = json({ paths: { "apis/a.example.com/v1": {}, "apis/b.example.com/v1": {}, "apis/b.example.com": {} } });
  const servers = { server: () => both, other: () => notFound };
  const setup = open(t, servers, views);
  setup.clock.advance(1000);
  await asked(setup, 4);
  assert.deepEqual([...setup.openApi.entries().keys()], ["apis/a.example.com/v1"]);
});

test("the documents of all servers have a limit together", async (t) => {
  const names = ["a", "b", "c", "d", "e"];
  const large = (name: string) => json({ paths: {}, definitions: { [name]: { description: "x".repeat(7 << 20) } } });
  const servers = Object.fromEntries(
    names.map((name): [string, ExtensionServer] => [name, (path) => (path === "/openapi/v2" ? large(name) : notFound)]),
  );
  const views = names.map((name) => remoteApiService(`v1.${name}.example.com`, name));
  const setup = open(t, servers, views);
  setup.clock.advance(1000);
  await asked(setup, 10);
  assert.equal(setup.openApi.documents().length, 4);
  assert.match(setup.warnings.join(), /the documents of all servers have more than 33554432 bytes/);
});

test("an index with too many entries is not read", async (t) => {
  const paths = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`apis/x${index}/v1`, {}]));
  const index = json({ paths: { "apis/a.example.com/v1": {}, ...paths } });
  const setup = open(t, { server: (path) => (path === "/openapi/v3" ? index : notFound) }, [view]);
  setup.clock.advance(1000);
  await asked(setup, 2);
  assert.equal(setup.openApi.entries().size, 0);
});

test("asks as system:aggregator, a second after the start, and not while the server is unavailable", async (t) => {
  const { isAvailable: _, ...rest } = view;
  const setup = open(t, extensionServers, [{ ...rest, isAvailable: false }]);
  setup.clock.advance(1000);
  await passTurns(20);
  assert.deepEqual(setup.backends.calls, []);
  setup.apiServices.put(view);
  setup.clock.advance(999);
  await passTurns(20);
  assert.deepEqual(setup.backends.calls, []);
  setup.clock.advance(1);
  await asked(setup, 2);
  const calls = setup.backends.calls.map(({ path, user }) => `${path} ${user}`);
  assert.deepEqual(calls, ["/openapi/v2 system:aggregator", "/openapi/v3 system:aggregator"]);
});

test("keeps the last document of a server that fails, until its APIService is deleted", async (t) => {
  const document = json({ swagger: "2.0", paths: {} }, '"one"');
  const setup = open(t, { server: (path) => (path === "/openapi/v2" ? document : notFound) }, [view]);
  setup.clock.advance(1000);
  await asked(setup, 2);
  assert.equal(setup.openApi.documents().length, 1);
  setup.backends.servers.server = (_, headers) =>
    headers["if-none-match"] === '"one"' ? { status: 304, body: "" } : notFound;
  const { generation } = setup.openApi;
  setup.clock.advance(60_000);
  await asked(setup, 4);
  assert.equal(setup.openApi.generation, generation, "nothing changed");
  delete setup.backends.servers.server;
  setup.clock.advance(60_000);
  await asked(setup, 6);
  assert.deepEqual(await setup.openApi.documents()[0]?.read(), { swagger: "2.0", paths: {} });
  setup.apiServices.delete(view.name);
  assert.deepEqual(setup.openApi.documents(), []);
  assert.ok(setup.openApi.generation > generation);
});

test("merges in the order of group priorities and names", async (t) => {
  const views = [
    remoteApiService("v1.low.example.com", "server", { groupPriorityMinimum: 10 }),
    remoteApiService("v1.high.example.com", "server", { groupPriorityMinimum: 20, versionPriority: 1 }),
    remoteApiService("v2.high.example.com", "server", { groupPriorityMinimum: 5, versionPriority: 100 }),
  ];
  const setup = open(t, { server: (path) => (path === "/openapi/v2" ? json({}) : notFound) }, views);
  setup.clock.advance(1000);
  await asked(setup, 6);
  assert.deepEqual(
    setup.openApi.documents().map(({ remote }) => remote.name),
    ["v1.high.example.com", "v2.high.example.com", "v1.low.example.com"],
  );
});

test("APIServices of one Service share its documents, which later ones only confirm", async (t) => {
  const names = ["a", "b", "c"].map((name) => `${name}.example.com`);
  const v2 = json({ swagger: "2.0", paths: {} }, '"one"');
  const index = json({ paths: Object.fromEntries(names.map((name) => [`apis/${name}/v1`, {}])) });
  const setup = open(t, {
    server(path, headers) {
      if (path === "/openapi/v3") return index;
      return headers["if-none-match"] === '"one"' ? { status: 304, body: "" } : v2;
    },
  });
  for (const [place, name] of names.entries()) {
    setup.apiServices.put(remoteApiService(`v1.${name}`, "server"));
    setup.clock.advance(1000);
    await asked(setup, 2 * (place + 1));
  }
  const conditions = setup.backends.calls.filter(({ path }) => path === "/openapi/v2").map(({ headers }) => headers);
  assert.deepEqual(
    conditions.map((headers) => headers["if-none-match"]),
    [undefined, '"one"', '"one"'],
  );
  assert.deepEqual(
    setup.openApi.documents().map(({ remote }) => remote.group),
    names,
  );
  assert.deepEqual(
    [...setup.openApi.entries().keys()],
    names.map((name) => `apis/${name}/v1`),
  );
  setup.apiServices.delete(`v1.${names[0]}`);
  setup.clock.advance(1000);
  await asked(setup, 6);
  assert.deepEqual([...setup.openApi.entries().keys()], ["apis/b.example.com/v1", "apis/c.example.com/v1"]);
});
