/**
 * A tenth of a number of ConfigMaps of 1 KB, then all of them. Measures the cost of a list, the
 * latency of concurrent gets from a separate process, memory, the time of a restart, and whether
 * memory grows while objects are created and deleted.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Child } from "../child.ts";
import type { BenchClient } from "../client.ts";
import { type ScaleServer, type Show, withServer } from "./contract.ts";
import { pageCosts, showPageCosts } from "./pages.ts";
import { memoryOfRounds } from "./rounds.ts";

const namespaces = 10;
const payload = "x".repeat(1024);
const all = "/api/v1/configmaps";
const table = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";

/** The lists that are read during concurrent gets. */
const readings: [what: string, path: string, accept?: string][] = [
  ["full list", all],
  ["full list, again", all],
  ["one namespace", "/api/v1/namespaces/bench-3/configmaps"],
  ["label selector, 1 in 10", `${all}?labelSelector=shard%3D3`],
  ["label selector, again", `${all}?labelSelector=shard%3D3`],
  ["field selector metadata.name", "/api/v1/namespaces/bench-3/configmaps?fieldSelector=metadata.name%3Dcm-000003"],
  ["table of all", all, table],
  ["YAML of one namespace", "/api/v1/namespaces/bench-3/configmaps", "application/yaml"],
  ["protobuf", all, "application/vnd.kubernetes.protobuf"],
  ["protobuf, again", all, "application/vnd.kubernetes.protobuf"],
  ["indented", `${all}?pretty=true`],
  [
    "streaming list",
    `${all}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=5`,
  ],
  ["pages of 500", `${all}?limit=500`],
];

interface Probe {
  readonly count: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** With fewer, a twentieth of them has no second page. */
const objectsMin = 200;

export async function manyObjects(show: Show, requested: number): Promise<void> {
  const objects = Math.max(objectsMin, requested - (requested % 20));
  await withServer((server) => measure(server, show, objects));
  const directory = mkdtempSync(join(tmpdir(), "coxswain-scale-"));
  await memoryOfRounds(directory, objects / 20, 8, show);
  rmSync(directory, { recursive: true, force: true });
}

async function measure(server: ScaleServer, show: Show, objects: number): Promise<void> {
  const { child, client } = server;
  for (let index = 0; index < namespaces; index++)
    await client.send({
      method: "POST",
      path: "/api/v1/namespaces",
      body: JSON.stringify({ metadata: { name: `bench-${index}` } }),
    });
  await fill(client, 0, objects / 20);
  const pageObjects = Math.min(500, Math.floor(objects / 40));
  const fewPages = await pageCosts(child, client, objects / 20, pageObjects);
  await fill(client, objects / 20, objects / 10);
  const few = await listCost(child, client, objects / 10);
  await fill(client, objects / 10, objects);
  const manyPages = await pageCosts(child, client, objects, pageObjects);
  const written = await child.usage();
  show("CPU of one request", `among ${objects / 20} objects, then among ${objects}`);
  showPageCosts(fewPages, manyPages, show);
  show(
    "after all writes",
    `RssAnon ${written.rssAnonMiB.toFixed(0)} MiB, RssFile ${written.rssFileMiB.toFixed(0)} MiB`,
  );
  await server.restart();
  await measureRestarted(server, show, { objects, few });
}

async function measureRestarted(
  { child, client }: ScaleServer,
  show: Show,
  { objects, few }: { readonly objects: number; readonly few: number },
): Promise<void> {
  show("restart to ready", `${child.readyMs.toFixed(0)} ms`, "3000 ms");
  const loading = await client.read("/api/v1/namespaces/bench-3/configmaps/cm-000003");
  const { heldMs, cpuMs } = await child.usage();
  show("first read, which loads the cache", `${loading.ms.toFixed(0)} ms, loop held ${heldMs.toFixed(0)} ms`);
  show(
    "restart and first read, CPU",
    `${cpuMs.toFixed(0)} ms, ${((cpuMs / objects) * 1000).toFixed(1)} µs for each object`,
  );
  const many = await listCost(child, client, objects);
  show("list, CPU per object", `${(many * 1000).toFixed(2)} µs, ${(many / few).toFixed(2)} × that of a tenth`, "1.5 ×");
  await readWhileOthersGet(child, client, show);
}

function fill(client: BenchClient, from: number, to: number): Promise<void> {
  const object = (index: number): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: `cm-${String(index).padStart(6, "0")}`,
      labels: { app: "bench", shard: String(index % namespaces) },
    },
    data: { payload },
  });
  const post = (at: number): { method: string; path: string; body: string } => {
    const index = from + at;
    return {
      method: "POST",
      path: `/api/v1/namespaces/bench-${index % namespaces}/configmaps`,
      body: JSON.stringify(object(index)),
    };
  };
  return client.run(to - from, 64, post, 201);
}

/** @returns CPU milliseconds per object; the minimum of several runs */
async function listCost(child: Child, client: BenchClient, objects: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round++) {
    const before = await child.usage();
    const lists = Math.ceil(50_000 / objects);
    for (let list = 0; list < lists; list++) await client.read(all);
    least = Math.min(least, ((await child.usage()).cpuMs - before.cpuMs) / lists / objects);
  }
  return least;
}

async function readWhileOthersGet(child: Child, client: BenchClient, show: Show): Promise<void> {
  const prober = fork(new URL("prober.ts", import.meta.url), [
    JSON.stringify(child.ready),
    "/api/v1/namespaces/default",
  ]);
  await new Promise((resolve) => prober.once("message", resolve));
  const ask = (): Promise<Probe> =>
    new Promise((resolve) => {
      prober.once("message", (answer) => resolve(answer as Probe));
      prober.send("");
    });
  for (const [what, path, accept] of readings) {
    await ask();
    const before = await child.usage();
    const { firstMs, ms, bytes } = await (path.includes("limit=")
      ? client.readPages(path)
      : client.read(path, { accept }));
    const after = await child.usage();
    const { p99Ms, maxMs } = await ask();
    const cost = `first byte ${firstMs.toFixed(1)} ms, all ${ms.toFixed(0)} ms, CPU ${(after.cpuMs - before.cpuMs).toFixed(0)} ms, ${(bytes / (1 << 20)).toFixed(1)} MiB`;
    const others = `loop held ${after.heldMs.toFixed(1)} ms, gets p99 ${p99Ms.toFixed(1)} max ${maxMs.toFixed(1)} ms`;
    show(what, `${cost}; ${others}; RssAnon ${after.rssAnonMiB.toFixed(0)} RssFile ${after.rssFileMiB.toFixed(0)} MiB`);
  }
  prober.disconnect();
}
