/**
 * The CPU time of the server process per operation, as ratios to two baselines in the same run: (a) a bare node:http2
 * server, (b) durable LMDB transactions of three keys at concurrency 16. (c) is this server on LMDB.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../src/index.ts";
import { auditCost, auditRows } from "./audit.ts";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type BenchRequest, type Target } from "./client.ts";
import { durablePutsBaseline } from "./lmdb-baseline.ts";

const concurrency = 16;
const watchers = 100;
const events = 500;
const collection = "/api/v1/namespaces/bench/configmaps";
const payload = "x".repeat(1024);
const name = (index: number): string => `cm-${String(index).padStart(6, "0")}`;

const configMap = (metadata: object, extra: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { payload, extra } });

/** Runs one phase. @returns CPU milliseconds of the server per operation */
async function measure(child: Child, operations: number, run: () => Promise<void>): Promise<number> {
  const before = await child.usage();
  await run();
  return ((await child.usage()).cpuMs - before.cpuMs) / operations;
}

async function bareBaseline(objects: number): Promise<number> {
  const child = await startChild(new URL("server-bare.ts", import.meta.url), []);
  const client = new BenchClient(child.ready as unknown as Target);
  const phase = (): Promise<void> =>
    client.run(objects, concurrency, () => ({ method: "GET", path: `${collection}/a` }), 200);
  await phase();
  const cpu = await measure(child, objects, phase);
  client.close();
  await child.stop();
  return cpu;
}

/** Prints a row for each kind of request. @param objects the size of the collection, and the requests of each kind */
export async function requestsBench(objects: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const a = await bareBaseline(objects);
  const b = (
    await durablePutsBaseline({
      dir: join(directory, "baseline"),
      operations: objects,
      concurrency,
      keysPerTransaction: 3,
    })
  ).cpuMsPerOp;

  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [join(directory, "data")]);
  const client = new BenchClient(child.ready as unknown as Target);
  const phase = (request: (index: number) => BenchRequest, status: number): Promise<number> =>
    measure(child, objects, () => client.run(objects, concurrency, request, status));

  await client.send({
    method: "POST",
    path: "/api/v1/namespaces",
    body: JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "bench" } }),
  });
  const labels = { app: "bench" };
  // Warm-up, as for the baseline.
  await client.run(
    objects,
    concurrency,
    (i) => ({ method: "POST", path: collection, body: configMap({ name: `warm-${i}`, labels }, "0") }),
    201,
  );
  await client.run(
    objects,
    concurrency,
    (i) => ({ method: "PUT", path: `${collection}/warm-${i}`, body: configMap({ name: `warm-${i}`, labels }, "1") }),
    200,
  );
  await client.run(objects, concurrency, (i) => ({ method: "DELETE", path: `${collection}/warm-${i}` }), 200);
  const create = await phase(
    (i) => ({ method: "POST", path: collection, body: configMap({ name: name(i), labels }, "0") }),
    201,
  );
  const get = await phase((i) => ({ method: "GET", path: `${collection}/${name((i * 7919) % objects)}` }), 200);
  const update = await phase(
    (i) => ({ method: "PUT", path: `${collection}/${name(i)}`, body: configMap({ name: name(i), labels }, "1") }),
    200,
  );
  /** @returns CPU milliseconds of the server per list, after a warm-up */
  async function lists(count: number, query: string, headers: Readonly<Record<string, string>>): Promise<number> {
    const listing = (): Promise<void> =>
      client.run(count, 1, () => ({ method: "GET", path: `${collection}${query}`, headers }), 200);
    await listing();
    return measure(child, count, listing);
  }
  const list = await lists(10, "", {});
  const messages = await lists(10, "", { accept: "application/vnd.kubernetes.protobuf" });
  const table = await lists(100, "?limit=500", { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
  const compressed = { "accept-encoding": "gzip" };
  const gzipped = await lists(10, "", compressed);
  await client.run(10, 4, () => ({ method: "GET", path: collection, headers: compressed }), 200);
  const { heldMs: heldByGzip } = await child.usage();
  const page = async (): Promise<void> => {
    for (let next = ""; ; ) {
      const { body } = await client.send({ method: "GET", path: `${collection}?limit=500&continue=${next}` });
      next = /"continue":"([^"]*)"/.exec(body.slice(0, 500))?.[1] ?? "";
      if (next === "") return;
    }
  };
  await page();
  const paged = await measure(child, 5, async () => {
    for (let round = 0; round < 5; round++) await page();
  });
  let mibPerSecond = 0;
  for (let round = 0; round < 10; round++) {
    const { ms: took, bytes } = await client.read(collection);
    mibPerSecond = Math.max(mibPerSecond, bytes / (1 << 20) / (took / 1000));
  }
  const { body } = await client.send({ method: "GET", path: `${collection}?limit=1` });
  const version = JSON.parse(body).metadata.resourceVersion;
  const watchPath = `${collection}?watch=1&resourceVersion=${version}&labelSelector=app%3Dwatched`;
  const seen = await Promise.all(Array.from({ length: watchers }, () => client.watch(watchPath)));
  const fanOut = await measure(child, events * watchers, async () => {
    const post = (i: number): BenchRequest => ({
      method: "POST",
      path: collection,
      body: configMap({ name: `w-${i}`, labels: { app: "watched" } }, "0"),
    });
    await Promise.all([client.run(events, concurrency, post, 201), ...seen.map((wait) => wait(events))]);
  });
  const watch = fanOut - create / watchers;
  const remove = await phase((i) => ({ method: "DELETE", path: `${collection}/${name(i)}` }), 200);
  client.close();
  await child.stop();

  const fresh = await startChild(new URL("server-coxswain.ts", import.meta.url), [join(directory, "fresh")]);
  const filler = new BenchClient(fresh.ready as unknown as Target);
  await filler.run(
    objects,
    concurrency,
    (i) => ({
      method: "POST",
      path: collection.replace("bench", "default"),
      body: configMap({ name: name(i), labels }, "0"),
    }),
    201,
  );
  const rss = (await fresh.usage()).rssMiB;
  filler.close();
  await fresh.stop();

  const recorded = await auditCost(objects);
  const embeddedAt = performance.now();
  const embedded = await startServer({ storage: "memory" });
  const embeddedMs = performance.now() - embeddedAt;
  await embedded.close();
  rmSync(directory, { recursive: true, force: true });

  const rows: [what: string, measured: string, ratio: string, goal: string][] = [
    ["(a) bare node:http2 request", ms(a), "", ""],
    ["(b) durable LMDB transaction, 3 keys", ms(b), "", ""],
    ["get", ms(get), `${(get / a).toFixed(2)} × (a)`, "2 × (a)"],
    ["create", ms(create), `${(create / (a + b)).toFixed(2)} × ((a) + (b))`, "2.5 × ((a) + (b))"],
    ["update", ms(update), `${(update / (a + b)).toFixed(2)} × ((a) + (b))`, "2.5 × ((a) + (b))"],
    ["delete", ms(remove), `${(remove / (a + b)).toFixed(2)} × ((a) + (b))`, "2.5 × ((a) + (b))"],
    [`list of ${objects} 1-KB ConfigMaps`, ms(list), `${(list / a).toFixed(1)} × (a)`, "12 ms"],
    ["the same in pages of 500", ms(paged), `${(paged / a).toFixed(1)} × (a)`, "16 ms"],
    ["the list in protobuf", ms(messages), `${(messages / list).toFixed(2)} × JSON`, "1.5 × JSON"],
    ["the list as a Table, limited to 500", ms(table), `${(table / list).toFixed(2)} × JSON`, "2.25 ms"],
    ["the list compressed", ms(gzipped), `${(gzipped / list).toFixed(2)} × JSON`, ""],
    ["the longest that compressing held up others", ms(heldByGzip), "", "10 ms"],
    ["a list to one client, the fastest of 10", `${mibPerSecond.toFixed(0)} MiB/s`, "", ""],
    [`watch event to one of ${watchers} watchers`, ms(watch), `${(watch / a).toFixed(3)} × (a)`, "0.005 ms"],
    ...auditRows(recorded).map(([what, measured, ratio]): [string, string, string, string] => [
      what,
      measured,
      ratio,
      "",
    ]),
    [`resident memory after ${objects} objects`, `${rss.toFixed(0)} MiB`, "", "200 MiB"],
    [
      "ready in a process of its own, fresh directory, from source",
      `${child.readyMs.toFixed(0)} ms`,
      "",
      "500 ms (built package)",
    ],
    ["ready embedded in memory", `${embeddedMs.toFixed(0)} ms`, "", "150 ms"],
  ];
  for (const [what, measured, ratio, goal] of rows)
    console.log(
      `${what.padEnd(62)} ${measured.padStart(12)} ${ratio.padStart(24)}   ${goal === "" ? "" : `goal: at most ${goal}`}`,
    );
}

function ms(value: number): string {
  return `${value.toFixed(4)} ms`;
}
