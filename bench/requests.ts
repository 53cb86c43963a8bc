/**
 * The CPU time of the server process per operation, as ratios to two baselines in the same run: (a) a bare node:http2
 * server, (b) durable LMDB transactions of three keys at concurrency 16. (c) is this server on LMDB. The floor of a read
 * is what the bare server needs to answer the same bytes from memory.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../src/index.ts";
import { type AuditCost, auditCost, auditRows } from "./audit.ts";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type BenchRequest, type Target } from "./client.ts";
import { durablePutsBaseline } from "./lmdb-baseline.ts";

const concurrency = 16;
const watchers = 100;
const events = 500;
const collection = "/api/v1/namespaces/bench/configmaps";
const payload = "x".repeat(1024);
const name = (index: number): string => `cm-${String(index).padStart(6, "0")}`;
const labels = { app: "bench" };

const configMap = (metadata: object, extra: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { payload, extra } });

/** Prints a row for each kind of request. @param objects the size of the collection, and the requests of each kind */
export async function requestsBench(objects: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const bare = await startBareServer(objects);
  const baselines = {
    a: bare.a,
    b: await lmdbBaseline(join(directory, "baseline"), objects),
  };
  const server = await startServerOf(join(directory, "data"), objects);
  await warmUp(server);
  const create = await server.phase(createOf(name), 201);
  const get = await server.phase((i) => ({ method: "GET", path: `${collection}/${name((i * 7919) % objects)}` }), 200);
  const update = await server.phase(updateOf(name), 200);
  const reads = await measureReads(server, bare);
  await bare.close();
  const watch = (await measureFanOut(server)) - create / watchers;
  const remove = await server.phase(removeOf(name), 200);
  const { readyMs } = server.child;
  await server.close();
  const costs = { create, get, update, ...reads, watch, remove, readyMs };
  const others = {
    rssMiB: await memoryOf(join(directory, "fresh"), objects),
    audit: await auditCost(objects),
    embeddedMs: await embeddedStart(),
  };
  rmSync(directory, { recursive: true, force: true });
  print(rowsOf(objects, baselines, costs, others));
}

/** Runs one phase. @returns CPU milliseconds of the server per operation */
async function measure(child: Child, operations: number, run: () => Promise<void>): Promise<number> {
  const before = await child.usage();
  await run();
  return ((await child.usage()).cpuMs - before.cpuMs) / operations;
}

interface BareServer extends Pick<MeasuredServer, "child" | "client" | "close"> {
  /** CPU milliseconds of a request. */
  readonly a: number;
}

async function startBareServer(objects: number): Promise<BareServer> {
  const child = await startChild(new URL("server-bare.ts", import.meta.url), []);
  const client = new BenchClient(child.ready as unknown as Target);
  const phase = (): Promise<void> =>
    client.run(objects, concurrency, () => ({ method: "GET", path: `${collection}/a` }), 200);
  await phase();
  const a = await measure(child, objects, phase);
  return { child, client, a, close: () => closeBoth(client, child) };
}

async function closeBoth(client: BenchClient, child: Child): Promise<void> {
  client.close();
  await child.stop();
}

async function lmdbBaseline(dir: string, operations: number): Promise<number> {
  return (await durablePutsBaseline({ dir, operations, concurrency, keysPerTransaction: 3 })).cpuMsPerOp;
}

interface MeasuredServer {
  readonly child: Child;
  readonly client: BenchClient;
  /** Sends a request for each object, 16 at a time. @returns CPU milliseconds of the server per request */
  phase(request: (index: number) => BenchRequest, status: number): Promise<number>;
  close(): Promise<void>;
}

async function startServerOf(directory: string, objects: number): Promise<MeasuredServer> {
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [directory]);
  const client = new BenchClient(child.ready as unknown as Target);
  return {
    child,
    client,
    phase: (request, status) => measure(child, objects, () => client.run(objects, concurrency, request, status)),
    close: () => closeBoth(client, child),
  };
}

type Named = (index: number) => string;

const createOf =
  (name: Named) =>
  (i: number): BenchRequest => ({
    method: "POST",
    path: collection,
    body: configMap({ name: name(i), labels }, "0"),
  });
const updateOf =
  (name: Named) =>
  (i: number): BenchRequest => ({
    method: "PUT",
    path: `${collection}/${name(i)}`,
    body: configMap({ name: name(i), labels }, "1"),
  });
const removeOf =
  (name: Named) =>
  (i: number): BenchRequest => ({ method: "DELETE", path: `${collection}/${name(i)}` });

/** As for the baseline. */
async function warmUp({ client, phase }: MeasuredServer): Promise<void> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "bench" } };
  await client.send({ method: "POST", path: "/api/v1/namespaces", body: JSON.stringify(namespace) });
  const warm: Named = (i) => `warm-${i}`;
  await phase(createOf(warm), 201);
  await phase(updateOf(warm), 200);
  await phase(removeOf(warm), 200);
}

/** CPU milliseconds of a read, and of the bare server for the same bytes. */
interface ReadCost {
  readonly cost: number;
  readonly floor: number;
}

interface ReadCosts {
  readonly list: ReadCost;
  readonly messages: ReadCost;
  readonly table: ReadCost;
  readonly gzipped: ReadCost;
  readonly heldByGzip: number;
  readonly paged: ReadCost;
  readonly pagedGzipped: ReadCost;
  readonly mibPerSecond: number;
}

const gzip = { "accept-encoding": "gzip" };

async function measureReads(server: MeasuredServer, bare: BareServer): Promise<ReadCosts> {
  const cost = (count: number, requests: readonly BenchRequest[]): Promise<ReadCost> =>
    readCost(server, bare, count, requests);
  const get = (query: string, headers: Readonly<Record<string, string>>): BenchRequest => ({
    method: "GET",
    path: `${collection}${query}`,
    headers,
  });
  const list = await cost(10, [get("", {})]);
  const messages = await cost(10, [get("", { accept: "application/vnd.kubernetes.protobuf" })]);
  const table = await cost(100, [get("?limit=500", { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" })]);
  const gzipped = await cost(10, [get("", gzip)]);
  const { client, child } = server;
  await client.run(10, 4, () => get("", gzip), 200);
  const { heldMs: heldByGzip } = await child.usage();
  const queries = await pageQueries(client);
  const pages = (headers: Readonly<Record<string, string>>): BenchRequest[] =>
    queries.map((query) => get(query, headers));
  const paged = await cost(5, pages({}));
  const pagedGzipped = await cost(5, pages(gzip));
  const mibPerSecond = await fastestList(client);
  return { list, messages, table, gzipped, heldByGzip, paged, pagedGzipped, mibPerSecond };
}

/** Sends the requests one after another, so many times, to a warm server. */
async function readCost(
  server: Pick<MeasuredServer, "child" | "client">,
  bare: BareServer,
  count: number,
  requests: readonly BenchRequest[],
): Promise<ReadCost> {
  for (const request of requests) {
    const { bytes, encoding } = await server.client.sendRaw(request);
    const headers: Record<string, string> = encoding === undefined ? {} : { "content-encoding": encoding };
    await bare.client.send({ method: "PUT", path: request.path, headers, body: bytes });
  }
  const costOf = async ({ child, client }: Pick<MeasuredServer, "child" | "client">): Promise<number> => {
    const run = (): Promise<void> =>
      client.run(count * requests.length, 1, (index) => requests[index % requests.length] as BenchRequest, 200);
    await run();
    return measure(child, count, run);
  };
  return { cost: await costOf(server), floor: await costOf(bare) };
}

async function pageQueries(client: BenchClient): Promise<string[]> {
  const queries: string[] = [];
  for (let next = ""; queries.length === 0 || next !== ""; ) {
    const query = `?limit=500&continue=${next}`;
    const { body } = await client.send({ method: "GET", path: `${collection}${query}` });
    queries.push(query);
    next = /"continue":"([^"]*)"/.exec(body.slice(0, 500))?.[1] ?? "";
  }
  return queries;
}

async function fastestList(client: BenchClient): Promise<number> {
  let mibPerSecond = 0;
  for (let round = 0; round < 10; round++) {
    const { ms: took, bytes } = await client.read(collection);
    mibPerSecond = Math.max(mibPerSecond, bytes / (1 << 20) / (took / 1000));
  }
  return mibPerSecond;
}

/** @returns CPU milliseconds of the server per event and watcher, its part of the create included */
async function measureFanOut({ child, client }: MeasuredServer): Promise<number> {
  const { body } = await client.send({ method: "GET", path: `${collection}?limit=1` });
  const version = JSON.parse(body).metadata.resourceVersion;
  const path = `${collection}?watch=1&resourceVersion=${version}&labelSelector=app%3Dwatched`;
  const seen = await Promise.all(Array.from({ length: watchers }, () => client.watch(path)));
  return measure(child, events * watchers, async () => {
    const post = (i: number): BenchRequest => ({
      method: "POST",
      path: collection,
      body: configMap({ name: `w-${i}`, labels: { app: "watched" } }, "0"),
    });
    await Promise.all([client.run(events, concurrency, post, 201), ...seen.map((wait) => wait(events))]);
  });
}

/** @returns the MiB that a new server holds in memory after creates, without a warm-up */
async function memoryOf(directory: string, objects: number): Promise<number> {
  const server = await startServerOf(directory, objects);
  const path = collection.replace("bench", "default");
  await server.phase((i) => ({ ...createOf(name)(i), path }), 201);
  const { rssMiB } = await server.child.usage();
  await server.close();
  return rssMiB;
}

async function embeddedStart(): Promise<number> {
  const startedAt = performance.now();
  const server = await startServer({ storage: "memory" });
  const ms = performance.now() - startedAt;
  await server.close();
  return ms;
}

interface Costs extends ReadCosts {
  readonly create: number;
  readonly get: number;
  readonly update: number;
  readonly watch: number;
  readonly remove: number;
  readonly readyMs: number;
}

interface OtherCosts {
  readonly rssMiB: number;
  readonly audit: AuditCost;
  readonly embeddedMs: number;
}

type Row = readonly [what: string, measured: string, ratio: string, goal: string];

function rowsOf(objects: number, { a, b }: { a: number; b: number }, costs: Costs, others: OtherCosts): Row[] {
  const { watch } = costs;
  const write = (what: string, cost: number): Row => [
    what,
    ms(cost),
    `${(cost / (a + b)).toFixed(2)} × ((a) + (b))`,
    "2.5 × ((a) + (b))",
  ];
  const read = (what: string, { cost, floor }: ReadCost, goal = "1.5 × floor"): Row => [
    what,
    ms(cost),
    `${(cost / floor).toFixed(2)} × ${floor.toFixed(2)} ms`,
    goal,
  ];
  return [
    ["(a) bare node:http2 request", ms(a), "", ""],
    ["(b) durable LMDB transaction, 3 keys", ms(b), "", ""],
    ["get", ms(costs.get), `${(costs.get / a).toFixed(2)} × (a)`, "2 × (a)"],
    write("create", costs.create),
    write("update", costs.update),
    write("delete", costs.remove),
    read(`list of ${objects} 1-KB ConfigMaps; floor`, costs.list),
    read("the same in pages of 500", costs.paged),
    read("the list in protobuf", costs.messages),
    read("the list as a Table, limited to 500", costs.table, "2.25 ms"),
    read("the list compressed", costs.gzipped),
    read("the pages compressed", costs.pagedGzipped),
    ["the longest that compressing held up others", ms(costs.heldByGzip), "", "10 ms"],
    ["a list to one client, the fastest of 10", `${costs.mibPerSecond.toFixed(0)} MiB/s`, "", ""],
    [`watch event to one of ${watchers} watchers`, ms(watch), `${(watch / a).toFixed(3)} × (a)`, "0.005 ms"],
    ...auditRows(others.audit).map(([what, measured, ratio]): Row => [what, measured, ratio, ""]),
    [`resident memory after ${objects} objects`, `${others.rssMiB.toFixed(0)} MiB`, "", "200 MiB"],
    [
      "ready in a process of its own, fresh directory, from source",
      `${costs.readyMs.toFixed(0)} ms`,
      "",
      "500 ms (built package)",
    ],
    ["ready embedded in memory", `${others.embeddedMs.toFixed(0)} ms`, "", "150 ms"],
  ];
}

function print(rows: readonly Row[]): void {
  for (const [what, measured, ratio, goal] of rows)
    console.log(
      `${what.padEnd(62)} ${measured.padStart(12)} ${ratio.padStart(24)}   ${goal === "" ? "" : `goal: at most ${goal}`}`,
    );
}

function ms(value: number): string {
  return `${value.toFixed(4)} ms`;
}
