/**
 * `npm run bench -- --experiment NAME`: experiments that others have published, repeated with this server and with kube-apiserver and its
 * etcd in one run, at the size of `--objects`. On Linux, after `npm run etcd` and `npm run upstream -- build kube-apiserver`.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { cpuMsOf, residentMiB } from "../test/support/processes.ts";
import { BenchClient, type BenchRequest } from "./client.ts";
import { type Subject, startBuilt } from "./cost-lines.ts";
import { startUpstream } from "./upstream.ts";

/** A server in an experiment. */
interface Server extends Subject {
  readonly kubeconfig: string;
}

/** What was measured, as text. */
type Figures = Readonly<Record<string, string>>;

interface Experiment {
  /** Where it was published, and its size there. */
  readonly source: string;
  /** @param objects the size that was asked for */
  run(server: Server, objects: number): Promise<Figures>;
}

const experiments: Readonly<Record<string, Experiment>> = {
  "small-lists": {
    source: "KEP-2340: 300,000 ConfigMaps of 1 KB, 1 list a second with a selector of nothing",
    run: (server, objects) => selectingLists(server, objects, 1 << 10),
  },
  "large-lists": {
    source: "KEP-2340: 300 ConfigMaps of 1 MB, 1 list a second with a selector of nothing",
    run: (server, objects) => selectingLists(server, Math.ceil(objects / 50), 1_000_000),
  },
  "large-secrets": {
    source: "KEP-3157: 400 Secrets of 1 MB, 16 informers at once",
    run: (server, objects) => informersOfSecrets(server, Math.ceil(objects / 50)),
  },
  "secrets-at-a-rate": {
    source: "vCluster's load test: 5,000 Secrets at 200 a second",
    run: secretsAtRate,
  },
  kwok: {
    source: "KWOK's gate: 5,000 nodes and 10,000 pods; here without a scheduler: pods name their nodes",
    run: (server, objects) => simulatedNodes(server, Math.ceil(objects / 10)),
  },
};

/** @param name of an experiment */
export async function experimentBench(name: string, objects: number): Promise<void> {
  const experiment = experiments[name];
  if (experiment === undefined) {
    console.error(`error: no experiment ${name}; there are ${Object.keys(experiments).join(", ")}`);
    process.exit(2);
  }
  console.log(experiment.source);
  execFileSync(process.execPath, [join(import.meta.dirname, "../tools/build.ts")], { stdio: ["ignore", 2, 2] }); // An older build would be measured.
  const ours = await measured(await startBuilt(join(import.meta.dirname, "../dist/main.js")), experiment, objects);
  const theirs = await measured(await startUpstream(), experiment, objects);
  console.log(row("", "coxswain", "kube-apiserver and etcd"));
  for (const [what, figure] of Object.entries(ours)) console.log(row(what, figure, theirs[what] as string));
}

const row = (what: string, ours: string, theirs: string): string =>
  `${what.padEnd(44)} ${ours.padStart(24)} ${theirs.padStart(24)}`;

async function measured(server: Server, { run }: Experiment, objects: number): Promise<Figures> {
  try {
    return await run(server, objects);
  } finally {
    await server.close();
  }
}

const maps = "/api/v1/namespaces/default/configmaps";
const secrets = "/api/v1/namespaces/default/secrets";

const createOf = (path: string, object: object): BenchRequest => ({
  method: "POST",
  path,
  body: JSON.stringify(object),
});

/** The CPU time of a server and its database during some work. */
async function cpuSecondsOf({ pids }: Server, work: () => Promise<unknown>): Promise<number> {
  const used = (): number => pids.reduce((all, pid) => all + cpuMsOf(pid), 0);
  const before = used();
  await work();
  return (used() - before) / 1000;
}

function memoryOf({ pids }: Server): string {
  return `${pids.reduce((all, pid) => all + residentMiB(pid, "VmHWM"), 0).toFixed(0)} MiB`;
}

function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
  return `${at(0.5)}, ${at(0.99)} ms`;
}

/** Starts an operation at a rate, whether earlier ones have ended or not. @returns the milliseconds that each took */
async function atRate(
  count: number,
  perSecond: number,
  operation: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const startedAt = performance.now();
  const timed: Promise<number>[] = [];
  for (let index = 0; index < count; index++) {
    const due = startedAt + (index * 1000) / perSecond - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due)));
    const at = performance.now();
    timed.push(operation(index).then(() => performance.now() - at));
  }
  return Promise.all(timed);
}

async function selectingLists(server: Server, count: number, bytes: number): Promise<Figures> {
  const client = new BenchClient(server.target);
  const data = { payload: "x".repeat(bytes) };
  const object = (index: number): BenchRequest => createOf(maps, { metadata: { name: `m-${index}` }, data });
  await client.run(count, bytes > 100_000 ? 2 : 16, object, 201);
  const path = `${maps}?labelSelector=selects%3Dnothing`;
  await client.read(path);
  const idleSeconds = 10;
  const idle = await cpuSecondsOf(server, () => new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000)));
  const lists = 30;
  let took: number[] = [];
  const cpu = await cpuSecondsOf(server, async () => {
    took = await atRate(lists, 1, () => client.read(path));
  });
  client.close();
  return {
    [`lists among ${count} objects: p50, p99`]: quantiles(took),
    "CPU of a second, without lists": `${((idle * 1000) / idleSeconds).toFixed(1)} ms`,
    "CPU of a second, with a list": `${((cpu * 1000) / lists).toFixed(1)} ms`,
    "memory at most": memoryOf(server),
  };
}

const informers = 16;

async function informersOfSecrets(server: Server, count: number): Promise<Figures> {
  const client = new BenchClient(server.target);
  const data = { key: Buffer.alloc(740_000, "0123456789abcdef").toString("base64") };
  await client.run(count, 2, (index) => createOf(secrets, { metadata: { name: `s-${index}` }, data }), 201);
  const readers = Array.from({ length: informers }, () => new BenchClient(server.target));
  const startedAt = performance.now();
  const cpu = await cpuSecondsOf(server, () => Promise.all(readers.map((reader) => untilInitialEventsEnd(reader))));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const one of [client, ...readers]) one.close();
  return {
    [`CPU of ${informers} informers, ${count} Secrets`]: `${cpu.toFixed(2)} s`,
    "all have them after": `${seconds.toFixed(1)} s`,
    "memory at most": memoryOf(server),
  };
}

/** As client-go's informers list since Kubernetes 1.35. */
function untilInitialEventsEnd(client: BenchClient): Promise<void> {
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  return new Promise((resolve) => {
    let rest = "";
    const stream = client.follow(`${secrets}?${query}`, (piece) => {
      rest = rest.slice(-200) + piece.toString("latin1");
      if (!rest.includes("k8s.io/initial-events-end")) return;
      stream.close();
      resolve();
    });
  });
}

async function secretsAtRate(server: Server, objects: number): Promise<Figures> {
  const client = new BenchClient(server.target);
  const data = { key: Buffer.alloc(64, "s").toString("base64") };
  let took: number[] = [];
  const cpu = await cpuSecondsOf(server, async () => {
    took = await atRate(objects, 200, async (index) => {
      const { status } = await client.send(createOf(secrets, { metadata: { name: `s-${index}` }, data }));
      if (status !== 201) throw new Error(`status ${status}`);
    });
  });
  client.close();
  return {
    [`${objects} creates at 200 a second: p50, p99`]: quantiles(took),
    "CPU of a create": `${((cpu * 1000) / objects).toFixed(2)} ms`,
    "memory at most": memoryOf(server),
  };
}

const kwokVersion = "v0.8.0";
/** What KWOK does with nodes and pods: files of its module. */
const stages = [
  "node/fast/node-initialize",
  "node/heartbeat-with-lease/node-heartbeat-with-lease",
  "pod/fast/pod-ready",
];

/** Installs KWOK, which is a Go module, when it is used first. @returns the command */
function kwokCommand(): { readonly program: string; readonly args: readonly string[] } {
  const directory = join(homedir(), ".cache/coxswain-kwok", kwokVersion);
  const program = join(directory, "kwok");
  if (!existsSync(program))
    execFileSync("go", ["install", `sigs.k8s.io/kwok/cmd/kwok@${kwokVersion}`], {
      env: { ...process.env, GOBIN: directory },
      stdio: ["ignore", 2, 2],
    });
  const modules = execFileSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" }).trim();
  const files = stages.map((stage) => join(modules, `sigs.k8s.io/kwok@${kwokVersion}/kustomize/stage/${stage}.yaml`));
  return { program, args: ["--manage-all-nodes", ...files.map((file) => `--config=${file}`)] };
}

async function simulatedNodes(server: Server, nodes: number): Promise<Figures> {
  const { program, args } = kwokCommand();
  const client = new BenchClient(server.target);
  const directory = mkdtempSync(join(tmpdir(), "coxswain-kwok-"));
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, server.kubeconfig);
  const log = openSync(join(directory, "log"), "w");
  const child = spawn(program, ["--kubeconfig", kubeconfig, ...args], { stdio: ["ignore", log, log] });
  // Without a controller manager, kube-apiserver has none.
  await client.send(createOf("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } }));
  const pods = nodes * 2;
  const startedAt = performance.now();
  let seconds = 0;
  try {
    const cpu = await cpuSecondsOf(server, async () => {
      await client.run(nodes, 16, (index) => createOf("/api/v1/nodes", { metadata: { name: `node-${index}` } }), 201);
      await client.run(pods, 16, (index) => createOf("/api/v1/namespaces/default/pods", podOf(index, nodes)), 201);
      await untilRunning(client, pods, () => {
        if (child.exitCode !== null) throw new Error(readFileSync(join(directory, "log"), "utf8"));
      });
      seconds = (performance.now() - startedAt) / 1000;
    });
    return {
      [`CPU until ${pods} pods of ${nodes} nodes run`]: `${cpu.toFixed(1)} s`,
      "by the clock": `${seconds.toFixed(0)} s`,
      "memory at most": memoryOf(server),
    };
  } finally {
    client.close();
    child.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

function podOf(index: number, nodes: number): object {
  const spec = { nodeName: `node-${index % nodes}`, containers: [{ name: "c", image: "i" }] };
  return { metadata: { name: `pod-${index}` }, spec };
}

async function untilRunning(client: BenchClient, pods: number, check: () => void): Promise<void> {
  const path = "/api/v1/namespaces/default/pods?limit=1&fieldSelector=status.phase%21%3DRunning";
  const deadline = performance.now() + 10 * 60_000;
  for (;;) {
    check();
    const { body } = await client.send({ method: "GET", path });
    if (JSON.parse(body).items.length === 0) return;
    if (performance.now() > deadline) throw new Error(`not all of ${pods} pods run after 10 minutes`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
