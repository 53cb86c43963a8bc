/** The CPU time of a server for each kind of request, whatever program it is. On Linux. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { cpuMsOf, residentMiB } from "../test/support/processes.ts";
import { BenchClient, type BenchRequest, type Target, targetOfKubeconfig } from "./client.ts";
import { collection, namespace, type RequestName, requestKinds, requestNames } from "./request-kinds.ts";

const concurrency = 16;
const lists = 10;
const watchers = 100;
const events = 100;
const tableType = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";

export interface Subject {
  readonly target: Target;
  /** Of the server, and of its database if that is another process. */
  readonly pids: readonly number[];
  close(): Promise<void>;
}

/** Milliseconds of CPU time for each operation, and the memory at the end, by line. */
export type Costs = ReadonlyMap<string, number>;

/**
 * Starts the command of a built package on a new directory, as its users do: its first line sets flags of V8 and of malloc. It finds the Node.js
 * of this process.
 *
 * @param main its `main.js`
 */
export async function startBuilt(main: string): Promise<Subject & { readonly kubeconfig: string }> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const child = spawn(main, ["serve", "--data-dir", directory, "--secure-port=0"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  });
  await once(createInterface(child.stdout), "line"); // It is written when the server is ready.
  const kubeconfig = readFileSync(join(directory, "kubeconfig"), "utf8");
  return {
    kubeconfig,
    target: targetOfKubeconfig(kubeconfig),
    pids: [child.pid as number],
    async close() {
      child.kill();
      await once(child, "exit");
      rmSync(directory, { recursive: true });
    },
  };
}

/** A server while it is measured. */
interface Measured {
  readonly subject: Subject;
  readonly client: BenchClient;
  /** Milliseconds so far. */
  readonly spent: Map<string, number>;
}

/**
 * Measures each line on servers that have just started, and ends them. They work in turns, slice by slice, so that what else the machine
 * does concerns all of them.
 *
 * @param objects the size of the collection
 * @returns in the order of the servers
 */
export async function costsInTurns(subjects: readonly Subject[], objects: number): Promise<Costs[]> {
  const servers = subjects.map(
    (subject): Measured => ({ subject, client: new BenchClient(subject.target), spent: new Map() }),
  );
  try {
    for (const { client } of servers) await client.send(namespace);
    for (const line of linesOf(objects)) await measure(line, servers);
    for (const { subject, spent } of servers)
      spent.set(
        "memory at the end, MiB",
        subject.pids.reduce((all, pid) => all + residentMiB(pid), 0),
      );
    return servers.map(({ spent }) => spent);
  } finally {
    for (const { client, subject } of servers) {
      client.close();
      await subject.close();
    }
  }
}

interface Line {
  readonly name: string;
  readonly slices: number;
  /** In each slice. */
  readonly operations: number;
  run(server: Measured, slice: number): Promise<unknown>;
}

async function measure({ name, slices, operations, run }: Line, servers: readonly Measured[]): Promise<void> {
  for (let slice = 0; slice < slices; slice++)
    for (const server of slice % 2 === 0 ? servers : servers.toReversed()) {
      const { pids } = server.subject;
      const used = (): number => pids.reduce((all, pid) => all + cpuMsOf(pid), 0);
      const before = used();
      await run(server, slice);
      const cost = (used() - before) / operations / slices;
      server.spent.set(name, (server.spent.get(name) ?? 0) + cost);
    }
}

function linesOf(objects: number): Line[] {
  const listing = (name: string, path: string, accept?: string): Line => {
    const request: BenchRequest = { method: "GET", path, ...(accept !== undefined && { headers: { accept } }) };
    return { name, slices: lists, operations: 1, run: ({ client }) => client.run(1, 1, () => request, 200) };
  };
  const pages = `${collection}?limit=500`;
  return [
    ...requestNames.filter((name) => name !== "delete").map((name) => requestLine(name, objects)),
    listing(`list of ${objects}`, collection),
    listing("the same with resourceVersion=0", `${collection}?resourceVersion=0`),
    { name: "the same in pages of 500", slices: 4, operations: 1, run: ({ client }) => client.readPages(pages) },
    listing("Table of 500", pages, tableType),
    { name: `event to one of ${watchers} watchers`, slices: 5, operations: events * watchers, run: fanOut },
    requestLine("delete", objects),
  ];
}

/** One request for each object. */
function requestLine(name: RequestName, objects: number): Line {
  const { of, status } = requestKinds[name];
  const slices = Math.min(10, objects);
  const operations = Math.floor(objects / slices);
  const run = ({ client }: Measured, slice: number): Promise<void> =>
    client.run(operations, concurrency, (index) => of(slice * operations + index), status);
  return { name, slices, operations, run };
}

/** The creates are part of the cost of the events. A connection to kube-apiserver has at most 100 streams. */
async function fanOut({ client, subject }: Measured, slice: number): Promise<void> {
  const watching = new BenchClient(subject.target);
  const { body } = await client.send({ method: "GET", path: `${collection}?limit=1` });
  const version = JSON.parse(body).metadata.resourceVersion;
  const seen = await Promise.all(
    Array.from({ length: watchers }, () => watching.watch(`${collection}?watch=1&resourceVersion=${version}`)),
  );
  const post = (index: number): BenchRequest => ({
    method: "POST",
    path: collection,
    body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `w-${slice}-${index}` } }),
  });
  await Promise.all([client.run(events, concurrency, post, 201), ...seen.map((wait) => wait(events))]);
  watching.close();
}
