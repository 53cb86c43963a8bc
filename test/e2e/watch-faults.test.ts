/** Faults of watches, as raw clients and informers see them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import { after, afterEach, before, describe, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { type Fault, startTestServer, type TestServer, virtualClock } from "../../src/testing/index.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { quietControllers } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const rule = { verb: "watch", resource: "configmaps" };
/** Only the timeouts of watches wait for it. */
const clock = virtualClock();
let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer({ controllers: quietControllers, clock });
  client = rawClient(server.kubeconfig);
});
afterEach(() => server.faults.clear());
after(async () => {
  client.close();
  await server.close();
});

const create = async (name: string): Promise<void> => {
  assert.equal((await client.send({ method: "POST", path: configMaps, body: { metadata: { name } } })).status, 201);
};

interface OpenWatch {
  /** `ADDED a`, and `BOOKMARK`. */
  readonly events: string[];
  /** `end` after an orderly end, otherwise the code of the error. */
  ended: Promise<string>;
  close(): void;
}

/** Opens a watch on a connection of its own. */
async function watch(query = "", userAgent = "watcher"): Promise<OpenWatch> {
  const { kubeconfig, url } = server;
  const request = https.get(`${url}${configMaps}?watch=1${query}`, {
    ca: field(kubeconfig, "certificate-authority-data"),
    cert: field(kubeconfig, "client-certificate-data"),
    key: field(kubeconfig, "client-key-data"),
    agent: false,
    headers: { "user-agent": userAgent },
  });
  const [response] = await once(request, "response");
  const events: string[] = [];
  let text = "";
  response.on("data", (piece: Buffer) => {
    const lines = (text + piece).split("\n");
    text = lines.pop() as string;
    for (const line of lines) {
      const { type, object } = JSON.parse(line);
      events.push([type, object.metadata?.name ?? object.reason].filter((part) => part !== undefined).join(" "));
    }
  });
  const ended = new Promise<string>((resolve) => {
    response.on("end", () => resolve("end"));
    response.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  return { events, ended, close: () => request.destroy() };
}

/** Creates objects with a new prefix in one batch. */
let batches = 0;
async function createSome(count: number): Promise<string[]> {
  const prefix = `batch-${batches++}`;
  const names = Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
  await Promise.all(names.map(create));
  return names;
}

describe("cutWatch", () => {
  const rows: [fault: Fault, ended: string][] = [
    [{ type: "cutWatch", events: 3 }, "ECONNRESET"],
    [{ type: "cutWatch", events: 3, how: "drop" }, "ECONNRESET"],
    [{ type: "cutWatch", events: 3, how: "end" }, "end"],
  ];
  for (const [fault, ended] of rows) {
    test(`${JSON.stringify(fault)} ends with ${ended} after three events of a batch`, async () => {
      server.faults.add({ ...rule, count: 1 }, fault);
      const open = await watch("&resourceVersion=");
      await createSome(6);
      assert.equal(await open.ended, ended);
      assert.equal(open.events.length, 3);
    });

    test(`${JSON.stringify(fault)} ends with ${ended} within the initial events`, async () => {
      await createSome(4);
      server.faults.add({ ...rule, count: 1 }, fault);
      const open = await watch("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
      assert.equal(await open.ended, ended);
      assert.equal(open.events.length, 3);
    });
  }

  test("at once, also for watches that are open already", async () => {
    const open = await Promise.all([watch(), watch(), watch()]);
    const handle = server.faults.add({ ...rule, count: 2 }, { type: "cutWatch" });
    const ends: string[] = [];
    for (const { ended } of open) void ended.then((how) => ends.push(how));
    await until(() => ends.length >= 2);
    await create("after-cuts");
    await until(() => open.some(({ events }) => events.includes("ADDED after-cuts")));
    assert.deepEqual([ends, handle.hits], [["ECONNRESET", "ECONNRESET"], 2]);
    for (const one of open) one.close();
  });
});

describe("stallWatch", () => {
  /** Another watch receives the events that this one does not. */
  const stallRule = { ...rule, userAgent: "watcher" };

  test("delivers nothing until the rule is removed, and then everything in order", async () => {
    const [open, other] = [await watch("&resourceVersion="), await watch("&resourceVersion=", "other")];
    const handle = server.faults.add(stallRule, { type: "stallWatch" });
    await create("stalled-a");
    await create("stalled-b");
    await until(() => other.events.includes("ADDED stalled-b"));
    const before = open.events.filter((event) => event.includes("stalled"));
    handle.remove();
    await create("stalled-c");
    const stalled = (): string[] => open.events.filter((event) => event.includes("stalled"));
    await until(() => stalled().length === 3);
    assert.deepEqual([before, stalled()], [[], ["ADDED stalled-a", "ADDED stalled-b", "ADDED stalled-c"]]);
    for (const one of [open, other]) one.close();
  });

  test("after some events of a batch holds back the others", async () => {
    const handle = server.faults.add(stallRule, { type: "stallWatch", events: 2 });
    const resourceVersion = (await client.send({ path: configMaps })).body.metadata.resourceVersion;
    const query = `&resourceVersion=${resourceVersion}`;
    const [open, other] = [await watch(query), await watch(query, "other")];
    const names = await createSome(5);
    await until(() => open.events.length >= 2 && other.events.length === 5);
    assert.equal(open.events.length, 2);
    handle.remove();
    await until(() => open.events.length === 5);
    assert.deepEqual([...open.events].sort(), names.map((name) => `ADDED ${name}`).sort());
    for (const one of [open, other]) one.close();
  });

  test("a stalled watch ends at its timeout without the rest", async () => {
    server.faults.add(rule, { type: "stallWatch" });
    const open = await watch("&resourceVersion=0&timeoutSeconds=1");
    await clock.advance("1s");
    assert.equal(await open.ended, "end");
    assert.deepEqual(open.events, []);
  });
});

describe("missingBookmark", () => {
  const query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
  const rows: [fault: Fault | undefined, bookmarks: number][] = [
    [undefined, 2],
    [{ type: "missingBookmark" }, 0],
    [{ type: "missingBookmark", which: "initialEventsEnd" }, 1],
  ];
  for (const [fault, bookmarks] of rows) {
    test(`${JSON.stringify(fault)}: ${bookmarks} bookmarks`, async () => {
      if (fault !== undefined) server.faults.add(rule, fault);
      const open = await watch(query);
      await clock.advance("1s");
      assert.equal(await open.ended, "end");
      assert.equal(open.events.filter((event) => event.startsWith("BOOKMARK")).length, bookmarks);
      assert.ok(open.events.length > bookmarks, "other events are sent");
    });
  }
});

test("gone is an event of a watch", async () => {
  server.faults.add(rule, { type: "gone" });
  const open = await watch();
  assert.equal(await open.ended, "end");
  assert.deepEqual(open.events, ["ERROR Expired"]);
});

const informerRows: Fault[] = [
  { type: "cutWatch" },
  { type: "cutWatch", events: 1 },
  { type: "cutWatch", events: 2, how: "end" },
  { type: "cutConnection" },
  { type: "gone" },
  { type: "tooManyRequests" },
  { type: "internalError" },
  { type: "missingBookmark" },
];
for (const fault of informerRows) {
  test(`an informer of client-node recovers from ${JSON.stringify(fault)}`, async () => {
    const config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
    const core = config.makeApiClient(k8s.CoreV1Api);
    const list = (): Promise<k8s.V1ConfigMapList> => core.listNamespacedConfigMap({ namespace: "default" });
    const informer = k8s.makeInformer(config, configMaps, list);
    let isStopped = false;
    informer.on("error", () => {
      setImmediate(() => {
        if (!isStopped) void informer.start();
      });
    });
    const handle = server.faults.add({ ...rule, count: 2 }, fault);
    await informer.start();
    for (let at = 0; at < 5; at++) {
      const [name = ""] = await createSome(1);
      await until(() => informer.get(name, "default") !== undefined);
    }
    assert.ok(handle.hits >= 1);
    isStopped = true;
    await informer.stop();
  });
}
