/**
 * `npm run bench -- --upstream`: the CPU time of the built package for each kind of request, and that of kube-apiserver with its
 * etcd for the same requests in the same run. On Linux, after `npm run etcd` and `npm run upstream -- build kube-apiserver`.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startEtcd } from "../test/support/etcd.ts";
import { startKubeApiserver } from "../test/support/kube-apiserver.ts";
import { cpuMsOf, residentMiB } from "../test/support/processes.ts";
import { BenchClient, type BenchRequest, type Target, targetOfKubeconfig, targetOfKubeconfigFile } from "./client.ts";
import { collection, namespace, requestKinds, requestNames } from "./request-kinds.ts";

const concurrency = 16;
const lists = 10;
const watchers = 100;
const events = 500;
const tableType = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";

interface Subject {
  readonly target: Target;
  /** Of the server, and of its database if that is another process. */
  readonly pids: readonly number[];
  close(): Promise<void>;
}

/** Milliseconds of CPU time for each operation, and the memory at the end, by row. */
type Costs = ReadonlyMap<string, number>;

/** Prints a row for each kind of request. @param objects the size of the collection */
export async function upstreamBench(objects: number): Promise<void> {
  execFileSync(process.execPath, [join(import.meta.dirname, "../tools/build.ts")]); // An older build would be measured.
  const ours = await costsOf(await startCoxswain(), objects);
  const theirs = await costsOf(await startUpstream(), objects);
  console.log(
    `${"ms of CPU time".padEnd(44)} ${"coxswain".padStart(9)} ${"upstream".padStart(9)} ${"ahead".padStart(7)}`,
  );
  for (const [row, cost] of ours) {
    const other = theirs.get(row) as number;
    console.log(
      `${row.padEnd(44)} ${cost.toPrecision(3).padStart(9)} ${other.toPrecision(3).padStart(9)} ${(other / cost).toFixed(1).padStart(6)}×`,
    );
  }
}

async function startCoxswain(): Promise<Subject> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-upstream-"));
  const main = join(import.meta.dirname, "../dist/main.js");
  const child = spawn(process.execPath, [main, "serve", "--data-dir", directory, "--secure-port=0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(createInterface(child.stdout), "line"); // It is written when the server is ready.
  return {
    target: targetOfKubeconfigFile(join(directory, "kubeconfig")),
    pids: [child.pid as number],
    async close() {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true });
    },
  };
}

async function startUpstream(): Promise<Subject> {
  const durable = ["--unsafe-no-fsync=false", "--heartbeat-interval=100", "--election-timeout=1000"];
  const etcd = await startEtcd({ flags: durable });
  const server = await startKubeApiserver({ etcd: etcd.urls });
  return {
    target: targetOfKubeconfig(server.kubeconfig),
    pids: [server.pid, ...etcd.members.map(({ pid }) => pid)],
    async close() {
      await server.close();
      await etcd.close();
    },
  };
}

async function costsOf({ target, pids, close }: Subject, objects: number): Promise<Costs> {
  const client = new BenchClient(target);
  await client.send(namespace);
  const costs = new Map<string, number>();
  const measure = async (row: string, operations: number, run: () => Promise<unknown>): Promise<void> => {
    const used = (): number => pids.reduce((all, pid) => all + cpuMsOf(pid), 0);
    const before = used();
    await run();
    costs.set(row, (used() - before) / operations);
  };
  const listing = (row: string, path: string, accept?: string): Promise<void> => {
    const request: BenchRequest = { method: "GET", path, ...(accept !== undefined && { headers: { accept } }) };
    return measure(row, lists, () => client.run(lists, 1, () => request, 200));
  };
  for (const name of requestNames.filter((one) => one !== "delete")) {
    const { of, status } = requestKinds[name];
    await measure(name, objects, () => client.run(objects, concurrency, of, status));
  }
  await listing(`list of ${objects}`, collection);
  await listing("the same with resourceVersion=0", `${collection}?resourceVersion=0`);
  await measure("the same in pages of 500", 3, async () => {
    for (let round = 0; round < 3; round++) await client.readPages(`${collection}?limit=500`);
  });
  await listing("Table of 500", `${collection}?limit=500`, tableType);
  await measure(`event to one of ${watchers} watchers`, events * watchers, () => fanOut(client, target));
  const { of, status } = requestKinds.delete;
  await measure("delete", objects, () => client.run(objects, concurrency, of, status));
  costs.set(
    "memory at the end, MiB",
    pids.reduce((all, pid) => all + residentMiB(pid), 0),
  );
  client.close();
  await close();
  return costs;
}

/** The creates are part of the cost of the events. A connection to kube-apiserver has at most 100 streams. */
async function fanOut(client: BenchClient, target: Target): Promise<void> {
  const watching = new BenchClient(target);
  const { body } = await client.send({ method: "GET", path: `${collection}?limit=1` });
  const version = JSON.parse(body).metadata.resourceVersion;
  const seen = await Promise.all(
    Array.from({ length: watchers }, () => watching.watch(`${collection}?watch=1&resourceVersion=${version}`)),
  );
  const post = (index: number): BenchRequest => ({
    method: "POST",
    path: collection,
    body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `w-${index}` } }),
  });
  await Promise.all([client.run(events, concurrency, post, 201), ...seen.map((wait) => wait(events))]);
  watching.close();
}
