/**
 * `npm run bench -- --etcd [--objects 5000] [--memory 100000]`: this server and upstream's sample
 * API server on one etcd, with the same load in turns: CPU time of the servers per operation,
 * latency of writes compared with that of etcd's own transactions, and memory with many objects.
 * Needs Linux, Go, and an etcd (`npm run etcd`, or COXSWAIN_ETCD).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/apimachinery/clock.ts";
import { EtcdClient } from "../src/storage/etcd/api/client.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { cpuMsOf } from "../test/support/processes.ts";
import { etcdMemory } from "./etcd-memory.ts";
import {
  buildSample,
  collection,
  flunder,
  type Start,
  type Subject,
  startOurs,
  startSample,
  writeCertificates,
} from "./etcd-subjects.ts";

/** Turns of each server per operation. */
const turns = 5;
const concurrency = 16;
const watchers = 50;
const pageSize = 500;
const latencySamples = 600;
/** V8 compiles the path of a create during so many of them, which a server that runs for hours does not notice. */
const warmUpCreates = 30_000;

/** CPU milliseconds per operation. */
interface Cost {
  readonly server: number;
  readonly etcd: number;
}

type Operation = (subject: Subject, turn: number) => Promise<number>;

export interface EtcdBenchOptions {
  readonly objects: number;
  /** Objects for the comparison of memory; 0 omits it. */
  readonly memory: number;
  /** Writes a CPU profile of this server to the directory. */
  readonly profile?: string | undefined;
}

export async function etcdBench({ objects, memory, profile }: EtcdBenchOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const program = process.env.COXSWAIN_SAMPLE_APISERVER ?? buildSample(directory);
  const certificates = await writeCertificates(directory);
  const etcd = await startEtcd();
  const start = { directory, certificates, etcd: etcd.urls[0] as string };
  try {
    await compareSpeed(start, { program, etcdPid: etcd.members[0]?.pid as number, objects, profile });
    if (memory > 0) await etcdMemory({ start, program, objects: memory });
  } finally {
    await etcd.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Speed {
  readonly program: string;
  readonly etcdPid: number;
  readonly objects: number;
  readonly profile: string | undefined;
}

async function compareSpeed(start: Start, { program, etcdPid, objects, profile }: Speed): Promise<void> {
  const node = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const subjects = [await startOurs(start, node)];
  try {
    subjects.push(await startSample(start, program));
    await compareCosts(subjects, etcdPid, objects);
    await compareLatency(subjects, start.etcd);
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
  }
}

async function compareCosts(subjects: readonly Subject[], etcdPid: number, objects: number): Promise<void> {
  const measure = (operation: Operation): Promise<Cost[]> => inTurns(subjects, etcdPid, operation);
  const rows: [what: string, costs: Cost[]][] = [];
  const name = (turn: number, index: number): string => `f-${turn}-${index}`;
  const create = await measure((subject, turn) =>
    each(turn === 0 ? Math.max(objects, warmUpCreates) : objects, concurrency, (index) =>
      post(subject, flunder(name(turn, index))),
    ),
  );
  rows.push([`create, ${concurrency} at once`, create]);
  const get = (subject: Subject, turn: number, index: number): Promise<string> =>
    send(subject, "GET", `${collection}/${name(turn, index)}`);
  rows.push([
    `get, ${concurrency} at once`,
    await measure((subject, turn) => each(objects, concurrency, (index) => get(subject, turn, index))),
  ]);
  const versions = new Map<Subject, string[][]>();
  for (const subject of subjects) versions.set(subject, await versionsOf(subject, objects, name));
  rows.push([
    `update, ${concurrency} at once`,
    await measure((subject, turn) =>
      each(objects, concurrency, (index) => {
        const resourceVersion = versions.get(subject)?.[turn]?.[index] as string;
        const body = flunder(name(turn, index), { payload: "y".repeat(700), resourceVersion });
        return send(subject, "PUT", `${collection}/${name(turn, index)}`, body);
      }),
    ),
  ]);
  const few = Math.ceil(objects / 5);
  rows.push([
    "create, one after the other",
    await measure((subject, turn) => each(few, 1, (index) => post(subject, flunder(`one-${turn}-${index}`)))),
  ]);
  rows.push([
    "get, one after the other",
    await measure((subject, turn) => each(few, 1, (index) => get(subject, turn, index))),
  ]);
  rows.push([`list page of ${pageSize}`, await measure((subject) => readPages(subject))]);
  const fanOut = await measure((subject, turn) => watchCreates(subject, turn, Math.ceil(objects / 5)));
  rows.push([
    `watch event, ${watchers} watchers`,
    fanOut.map(({ server, etcd }, at) => ({
      server: (server - (create[at] as Cost).server) / watchers,
      etcd: (etcd - (create[at] as Cost).etcd) / watchers,
    })),
  ]);
  for (const [what, costs] of rows) printCosts(what, costs);
}

function printCosts(what: string, costs: readonly Cost[]): void {
  const [ours, sample] = costs as [Cost, Cost];
  const us = (ms: number): string => `${(ms * 1000).toFixed(1)} µs`.padStart(11);
  const ratio = `${(ours.server / sample.server).toFixed(2)} ×`;
  console.log(
    `${what.padEnd(32)} ours ${us(ours.server)}  sample ${us(sample.server)}  ratio ${ratio}  goal: at most 0.5 ×` +
      `   (etcd: ${us(ours.etcd)}, ${us(sample.etcd)})`,
  );
}

/** Runs an operation on each server in turns, after a warm-up. It returns how often it was done. */
async function inTurns(subjects: readonly Subject[], etcdPid: number, operation: Operation): Promise<Cost[]> {
  const sums = subjects.map(() => ({ server: 0, etcd: 0, count: 0 }));
  for (let turn = 0; turn <= turns; turn++) {
    for (const [at, subject] of subjects.entries()) {
      const before = [cpuMsOf(subject.pid), cpuMsOf(etcdPid)] as const;
      const count = await operation(subject, turn);
      const sum = sums[at] as (typeof sums)[number];
      if (turn === 0) continue;
      sum.server += cpuMsOf(subject.pid) - before[0];
      sum.etcd += cpuMsOf(etcdPid) - before[1];
      sum.count += count;
    }
  }
  return sums.map(({ server, etcd, count }) => ({ server: server / count, etcd: etcd / count }));
}

/** @returns the count */
async function each(count: number, atOnce: number, run: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return count;
}

async function send({ client, name }: Subject, method: string, path: string, body?: string): Promise<string> {
  const answer = await client.send({ method, path, ...(body !== undefined && { body }) });
  if (answer.status >= 300)
    throw new Error(`${name}: ${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
  return answer.body;
}

function post(subject: Subject, body: string): Promise<string> {
  return send(subject, "POST", collection, body);
}

async function versionsOf(
  subject: Subject,
  objects: number,
  name: (turn: number, index: number) => string,
): Promise<string[][]> {
  const { items } = JSON.parse(await send(subject, "GET", collection));
  const byName = new Map<string, string>();
  for (const { metadata } of items) byName.set(metadata.name, metadata.resourceVersion);
  return Array.from({ length: turns + 1 }, (_, turn) =>
    Array.from({ length: objects }, (_, index) => byName.get(name(turn, index)) as string),
  );
}

/** Lists all objects in pages. @returns the number of pages */
async function readPages(subject: Subject): Promise<number> {
  let pages = 0;
  for (let next = ""; ; pages++) {
    const body = await send(subject, "GET", `${collection}?limit=${pageSize}&continue=${next}`);
    next = /"continue":"([^"]*)"/.exec(body.slice(0, 1000))?.[1] ?? "";
    if (next === "") return pages + 1;
  }
}

/** Creates objects while watchers receive them. @returns the number of objects */
async function watchCreates(subject: Subject, turn: number, count: number): Promise<number> {
  const label = `watched-${turn}`;
  const { resourceVersion } = JSON.parse(await send(subject, "GET", `${collection}?limit=1`)).metadata;
  const path = `${collection}?watch=1&resourceVersion=${resourceVersion}&timeoutSeconds=600&labelSelector=${label}`;
  const opened = await Promise.all(Array.from({ length: watchers }, () => subject.client.watch(path)));
  const body = (index: number): string => flunder(`${label}-${index}`, { labels: { [label]: "yes" } });
  await each(count, concurrency, (index) => post(subject, body(index)));
  await Promise.all(opened.map((wait) => wait(count)));
  return count;
}

/** Prints the median time of a write: a transaction of etcd, and creates, in turns. */
async function compareLatency(subjects: readonly Subject[], url: string): Promise<void> {
  const raw = new EtcdClient({ servers: [url], clock: systemClock });
  const writes: [what: string, write: (index: number) => Promise<unknown>][] = [
    ["etcd", (index) => rawWrite(raw, index)],
    ...subjects.map((subject): [string, (index: number) => Promise<unknown>] => [
      subject.name,
      (index) => post(subject, flunder(`late-${index}`)),
    ]),
  ];
  const times = writes.map((): number[] => []);
  for (let index = 0; index < latencySamples; index++) {
    for (const [at, [, write]] of writes.entries()) {
      const startedAt = performance.now();
      await write(index);
      times[at]?.push(performance.now() - startedAt);
    }
  }
  raw.close();
  const quantile = (values: readonly number[], q: number): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] as number;
  for (const [at, [what]] of writes.entries()) {
    const own = quantile(times[0] as number[], 0.5);
    const [median, p90] = [0.5, 0.9].map((q) => quantile(times[at] as number[], q)) as [number, number];
    const added =
      at === 0 ? "" : `  etcd plus ${(median - own).toFixed(2)} ms${at === 1 ? "  goal: at most 1 ms" : ""}`;
    console.log(
      `write, one after the other: ${what.padEnd(18)} median ${median.toFixed(2)} ms, p90 ${p90.toFixed(2)} ms${added}`,
    );
  }
}

function rawWrite(client: EtcdClient, index: number): Promise<unknown> {
  const key = Buffer.from(`/raw/flunders/late-${index}`);
  return client.txn({
    compare: [{ target: 2, key, mod_revision: 0 }],
    success: [{ request_put: { key, value: Buffer.alloc(1000, "x") } }],
    failure: [{ request_range: { key } }],
  });
}
