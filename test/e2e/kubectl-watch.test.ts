/**
 * kubectl commands that watch or list in chunks: get -w, wait, rollout status, delete of an object
 * with finalizers, get --raw.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Http2Client, http2Client } from "../support/http2-client.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { reasonOf, skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const merge = "application/merge-patch+json";
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** More than kubectl requests in one list. */
const many = isFull ? 1200 : 510;

type Write = readonly [line: string, body?: object];

const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const create = (namespace: string, name: string, labels = {}): Write => [
  `POST ${maps(namespace)}`,
  { metadata: { name, labels }, data: { k: "v" } },
];
const label = (namespace: string, name: string, x: string | null): Write => [
  `PATCH ${maps(namespace)}/${name}`,
  { metadata: { labels: { x } } },
];
const remove = (namespace: string, name: string): Write => [`DELETE ${maps(namespace)}/${name}`];

/**
 * Watches a namespace that has the ConfigMaps `first` (x=1) and `second`; the writes begin after
 * the watch.
 */
const watchRows: [command: string, writes: (namespace: string) => Write[], want: RegExp][] = [
  [
    "get configmaps -w",
    (n) => [create(n, "third"), label(n, "third", "1"), remove(n, "third")],
    /^NAME +DATA +AGE\nfirst +1 .*\nsecond +1 .*\nthird +1 .*\nthird +1 .*\nthird +1 .*\n$/,
  ],
  [
    "get configmaps -w --output-watch-events",
    (n) => [label(n, "first", "2"), create(n, "third"), remove(n, "first")],
    /^EVENT +NAME +DATA +AGE\nADDED +first .*\nADDED +second .*\nMODIFIED +first .*\nADDED +third .*\nDELETED +first .*\n$/,
  ],
  ["get configmaps --watch-only", (n) => [create(n, "third")], /^NAME +DATA +AGE\nthird +1 .*\n$/],
  [
    "get configmaps -w -l x=1 --output-watch-events",
    (n) => [label(n, "second", "1"), label(n, "first", null), remove(n, "second")],
    /^EVENT +NAME +DATA +AGE\nADDED +first .*\nADDED +second .*\nDELETED +first .*\nDELETED +second .*\n$/,
  ],
  [
    "get configmap second -w",
    (n) => [create(n, "third"), label(n, "second", "1")],
    /^NAME +DATA +AGE\nsecond +1 .*\nsecond +1 .*\n$/,
  ],
  [
    "get configmaps -w --field-selector metadata.name!=first -o name",
    (n) => [label(n, "first", "3"), create(n, "third"), label(n, "second", "3")],
    /^configmap\/second\nconfigmap\/third\nconfigmap\/second\n$/,
  ],
  [
    "get configmaps -w --show-labels --no-headers",
    (n) => [label(n, "first", "2"), label(n, "first", null)],
    /^first +1 +\S+ +x=1\nsecond +1 +\S+ +<none>\nfirst +1 +\S+ +x=2\nfirst +1 +\S+ +<none>\n$/,
  ],
  [
    "get configmap first -w -o jsonpath={.metadata.labels.x}",
    (n) => [label(n, "first", "2"), label(n, "first", "3")],
    /^123$/,
  ],
  [
    "get configmap first -w -o json",
    (n) => [label(n, "first", "2"), remove(n, "first")],
    /^(\{\n {4}"apiVersion": "v1",\n(?: .*\n)+\}\n){3}$/,
  ],
  [
    "get configmaps -w -o json --watch-only --output-watch-events",
    (n) => [remove(n, "first")],
    /^\{\n {4}"type": "DELETED",\n {4}"object": \{\n(?: .*\n)+\}\n$|^\{"type":"DELETED","object":\{.*\}\}\n$/,
  ],
];

const pods = "/api/v1/namespaces/default/pods";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const spec = { containers: [{ name: "c", image: "i" }] };
const pod = (name: string): Write => [`POST ${pods}`, { metadata: { name, labels: { wait: "1" } }, spec }];
const status = (path: string, value: object): Write => [`PATCH ${path}/status`, { status: value }];
const condition = (type: string, value: string): object => ({ conditions: [{ type, status: value }] });
const removePod = (name: string): Write => [`DELETE ${pods}/${name}?gracePeriodSeconds=0`];
const web: Write = [
  `POST ${deployments}`,
  {
    metadata: { name: "web" },
    spec: { replicas: 1, selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec } },
  },
];
const rolledOut = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };

/** Waits for the result of the writes, which begin after the watch. */
const waitRows: [command: string, before: Write[], writes: Write[], want: RegExp][] = [
  [
    "wait --for=condition=Ready pod/p",
    [pod("p")],
    [status(`${pods}/p`, condition("Ready", "True"))],
    /^pod\/p condition met$/,
  ],
  [
    "wait --for=condition=Ready=false pod/p",
    [],
    [status(`${pods}/p`, condition("Ready", "False"))],
    /^pod\/p condition met$/,
  ],
  [
    "wait --for=jsonpath={.status.phase}=Running pod/p",
    [],
    [status(`${pods}/p`, { phase: "Running" })],
    /^pod\/p condition met$/,
  ],
  [
    "wait --for=condition=Ready pod -l wait=1",
    [pod("q")],
    [status(`${pods}/q`, condition("Ready", "True")), status(`${pods}/p`, condition("Ready", "True"))],
    /^pod\/p condition met\npod\/q condition met$/,
  ],
  ["wait --for=delete pod/p", [], [removePod("p")], /^pod\/p condition met$/],
  ["wait --for=delete pod -l wait=1", [], [removePod("q")], /^pod\/q condition met$/],
  [
    "wait --for=condition=Available deployment/web",
    [web],
    [status(`${deployments}/web`, condition("Available", "True"))],
    /^deployment.apps\/web condition met$/,
  ],
  [
    "rollout status deployment/web",
    [],
    [status(`${deployments}/web`, rolledOut)],
    /^Waiting for deployment (?:.|\n)*deployment "web" successfully rolled out$/,
  ],
  [
    "delete configmap held",
    [[`POST ${maps("default")}`, { metadata: { name: "held", finalizers: ["example.com/hold"] } }]],
    [[`PATCH ${maps("default")}/held`, { metadata: { finalizers: null } }]],
    /^configmap "held" deleted/,
  ],
];

/** Commands whose watch another row opens: only with COXSWAIN_TEST_FULL=1. */
const fullSize = [
  "get configmaps -w",
  "get configmaps -w --show-labels --no-headers",
  "get configmap first -w -o jsonpath={.metadata.labels.x}",
  "get configmap first -w -o json",
  "get configmaps -w -o json --watch-only --output-watch-events",
  "wait --for=condition=Ready=false pod/p",
  "wait --for=jsonpath={.status.phase}=Running pod/p",
  "wait --for=delete pod -l wait=1",
];

const versions = kubectls();
if (versions.length === 0) test("kubectl", { skip: skipWithout("kubectl") }, () => {});

for (const kubectl of versions) {
  const minor = Number(/\.1\.(\d+)$/.exec(kubectl)?.[1] ?? Number.POSITIVE_INFINITY);
  describe(kubectl.slice(kubectl.lastIndexOf("/") + 1), () => {
    let server: TestServer;
    let client: Http2Client;
    let raw: RawClient;
    let directory: string;
    before(async () => {
      server = await startTestServer({ controllers: podControllers });
      client = http2Client(server.kubeconfig);
      raw = rawClient(server.kubeconfig);
      directory = mkdtempSync(join(server.directory, "kubectl-"));
    });
    after(async () => {
      client.close();
      raw.close();
      await server.close();
    });

    const write = async ([line, body]: Write): Promise<void> => {
      const answer = await client.send(line, body, line.startsWith("PATCH") ? merge : undefined);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
    };
    const run = (command: string): ReturnType<typeof runKubectl> =>
      runKubectl(kubectl, command.split(" "), { directory, kubeconfigPath: server.kubeconfigPath });

    /** @returns the sum of the series of a metric whose labels match */
    async function metric(name: string, ...labels: string[]): Promise<number> {
      const { text } = await raw.send({ path: "/metrics" });
      const lines = text
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    }
    const openWatches = (): Promise<number> => metric("apiserver_longrunning_requests", 'verb="WATCH"');

    /** Starts kubectl, and resolves when its watch is open or the process has ended. */
    async function follow(
      command: string,
    ): Promise<{ output(): string; ended: Promise<unknown>; waitFor(want: RegExp): Promise<void>; kill(): void }> {
      const before = await openWatches();
      const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: server.kubeconfigPath };
      const child = spawn(kubectl, command.split(" "), { cwd: directory, env });
      let output = "";
      let isOver = false;
      let wake = (): void => {};
      const ended = new Promise<void>((resolve) => {
        child.on("close", () => {
          isOver = true;
          wake();
          resolve();
        });
      });
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (piece: Buffer) => {
          output += piece.toString();
          wake();
        });
      }
      await until(async () => isOver || (await openWatches()) > before);
      return {
        output: () => output,
        ended,
        async waitFor(want) {
          while (!isOver && !want.test(output)) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        },
        kill: () => void child.kill(),
      };
    }

    const chosen = watchRows.filter(([command]) => isFull || !fullSize.includes(command));
    for (const [index, [command, writes, want]] of chosen.entries()) {
      test(command, { timeout: 120_000 }, async () => {
        const namespace = `w${index}`;
        for (const one of [
          ["POST /api/v1/namespaces", { metadata: { name: namespace } }] as const,
          create(namespace, "first", { x: "1" }),
          create(namespace, "second"),
        ])
          await write(one);
        const following = await follow(`${command} -n ${namespace}`);
        for (const one of writes(namespace)) await write(one);
        await following.waitFor(want);
        following.kill();
        await following.ended;
        assert.match(following.output(), want);
      });
    }

    for (const [command, preparation, writes, want] of waitRows) {
      if (!isFull && fullSize.includes(command)) continue;
      test(command, { timeout: 120_000 }, async () => {
        for (const one of preparation) await write(one);
        const following = await follow(command);
        for (const one of writes) await write(one);
        await following.ended;
        assert.match(following.output().trimEnd(), want);
      });
    }

    test("wait --for=create ends when the object is created", {
      skip:
        minor >= 31
          ? false
          : reasonOf("kubectl 1.31", "curl -LO https://dl.k8s.io/release/v1.31.0/bin/linux/amd64/kubectl"),
    }, async () => {
      const waiting = run("wait --for=create configmap/later --timeout=20s");
      await write(create("default", "later"));
      assert.deepEqual(await waiting, { code: 0, output: "configmap/later condition met" });
    });

    test("wait --timeout fails when the condition is not met in time", async () => {
      await write(pod("never"));
      const { code, output } = await run("wait --for=condition=Ready pod/never --timeout=1s");
      assert.deepEqual([code, output], [1, "error: timed out waiting for the condition on pods/never"]);
    });

    test(`get lists ${many} objects with one request per --chunk-size objects`, async () => {
      await write(["POST /api/v1/namespaces", { metadata: { name: "many" } }]);
      const names = Array.from({ length: many }, (_, index) => `m${String(index).padStart(4, "0")}`);
      await Promise.all(names.map((name) => write(create("many", name))));
      const lists = (): Promise<number> => metric("apiserver_request_total", 'resource="configmaps"', 'verb="LIST"');
      const chunks = isFull ? [undefined, 500, 100, 0] : [undefined, 0];
      for (const chunk of chunks) {
        const flags = chunk === undefined ? "" : ` --chunk-size=${chunk}`;
        const before = await lists();
        const { output } = await run(`get configmaps -n many -o name${flags}`);
        assert.deepEqual(
          output.split("\n"),
          names.map((name) => `configmap/${name}`),
        );
        assert.equal((await lists()) - before, chunk === 0 ? 1 : Math.ceil(many / (chunk ?? 500)), flags);
        if (chunk !== undefined && !isFull) continue;
        const table = await run(`get configmaps -n many --no-headers${flags}`);
        assert.deepEqual(
          table.output.split("\n").map((line) => line.split(" ")[0]),
          names,
        );
      }
    });

    test("get --raw lists a page, continues it, and watches", async () => {
      const list = JSON.parse((await run("get --raw /api/v1/namespaces/many/configmaps?limit=2")).output);
      assert.deepEqual(
        [list.kind, list.items.length, list.metadata.remainingItemCount],
        ["ConfigMapList", 2, many - 2],
      );
      const next = JSON.parse(
        (await run(`get --raw /api/v1/namespaces/many/configmaps?limit=2&continue=${list.metadata.continue}`)).output,
      );
      assert.deepEqual(
        [next.items[0].metadata.name, next.metadata.resourceVersion],
        ["m0002", list.metadata.resourceVersion],
      );
      const { output } = await run(
        "get --raw /api/v1/namespaces/many/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dm0000",
      );
      assert.match(output, /^\{"type":"ADDED","object":\{"kind":"ConfigMap",.*\}$/);
    });
  });
}
