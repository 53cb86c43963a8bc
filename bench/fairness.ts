/**
 * `npm run bench -- --fairness`: how long requests of one user take while another user keeps 500
 * lists of 5,000 objects open, with flow control and without. The server runs on the first core, all
 * clients on the second; the flood has the lowest priority there, so that the times are the
 * server's. Users have tokens.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";
import type { Flood } from "./fairness-flood.ts";
import type { Probe } from "./fairness-prober.ts";

const objects = 5000;
const parallel = 500;
const warmUpMs = 3000;
const measuredMs = 10_000;
const payload = "x".repeat(700);
const collection = "/api/v1/namespaces/bench/configmaps";
const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const protocols = ["HTTP/1.1", "HTTP/2"] as const;

type Protocol = (typeof protocols)[number];

interface FloodCounts {
  readonly lists: number;
  readonly bytes: number;
  readonly rejected: number;
}

interface Measured {
  readonly gets: readonly number[];
  readonly renewals: readonly number[];
  readonly listsPerSecond: number;
  readonly mibPerSecond: number;
  readonly rejected: number;
  readonly cpu: number;
}

/** Measures all phases, and prints a table. */
export async function fairnessBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const tokens = join(directory, "tokens.csv");
  writeFileSync(
    tokens,
    "flood-token,flood,1,readers\nother-token,other,2,readers\nscheduler-token,system:kube-scheduler,3\n",
  );
  for (const protocol of protocols) {
    const [quiet, on] = await serverPhases(tokens, protocol, "on");
    const [, off] = await serverPhases(tokens, protocol, "off");
    print(protocol, { quiet, on, off });
  }
  rmSync(directory, { recursive: true });
}

/** @returns what was measured without the flood and with it */
async function serverPhases(tokens: string, protocol: Protocol, fairness: string): Promise<[Measured, Measured]> {
  const child = await startChild(new URL("server-fairness.ts", import.meta.url), [tokens, fairness], { core: 0 });
  const target = child.ready as unknown as Target;
  await fill(target);
  const { url, ca } = target;
  const about = { url, ca, protocol };
  const gets: Probe = { ...about, token: "other-token", method: "GET", path: `${collection}/cm-7`, pauseMs: 2 };
  const renewals: Probe = {
    ...about,
    token: "scheduler-token",
    method: "PUT",
    path: `${leases}/kube-scheduler`,
    pauseMs: 50,
  };
  const getter = await startClient("fairness-prober.ts", gets, 0);
  const renewer = await startClient("fairness-prober.ts", renewals, 0);
  const quiet = await measure(child, getter, renewer);
  const flood: Flood = { ...about, token: "flood-token", path: collection, parallel };
  const flooder = await startClient("fairness-flood.ts", flood, 19);
  const flooded = await measure(child, getter, renewer, flooder);
  await Promise.all([getter, renewer, flooder].map(stopClient));
  await child.stop();
  return [quiet, flooded];
}

async function fill(target: Target): Promise<void> {
  const client = new BenchClient(target);
  const create = (path: string, object: object): Promise<unknown> =>
    client.send({ method: "POST", path, body: JSON.stringify(object) });
  const rbac = "rbac.authorization.k8s.io";
  await create("/api/v1/namespaces", { metadata: { name: "bench" } });
  await create(`/apis/${rbac}/v1/clusterroles`, {
    metadata: { name: "readers" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }],
  });
  await create(`/apis/${rbac}/v1/clusterrolebindings`, {
    metadata: { name: "readers" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "readers" },
    subjects: [{ kind: "Group", apiGroup: rbac, name: "readers" }],
  });
  await create(leases, {
    metadata: { name: "kube-scheduler" },
    spec: { holderIdentity: "bench", leaseDurationSeconds: 15 },
  });
  const body = (name: string): string =>
    JSON.stringify({ metadata: { name, labels: { app: "bench" } }, data: { payload } });
  await client.run(objects, 16, (i) => ({ method: "POST", path: collection, body: body(`cm-${i}`) }), 201);
  client.close();
}

/** Starts a client on the second core. */
function startClient(script: string, options: object, niceness: number): Promise<ChildProcess> {
  const child = fork(new URL(script, import.meta.url), [JSON.stringify(options)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execPath: "nice",
    execArgv: ["-n", String(niceness), "taskset", "-c", "1", process.execPath],
  });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${script} ended with ${code}`)));
    child.once("message", () => {
      child.removeAllListeners("exit");
      resolve(child);
    });
  });
}

/** Resolves when the client has ended, so that it does not see the end of the server. */
function stopClient(client: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    client.once("exit", () => resolve());
    client.disconnect();
  });
}

function ask<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve) => {
    child.once("message", (answer) => resolve(answer as Answer));
    child.send("report");
  });
}

async function measure(
  server: Child,
  getter: ChildProcess,
  renewer: ChildProcess,
  flooder?: ChildProcess,
): Promise<Measured> {
  const report = (): Promise<[number[], number[], FloodCounts]> =>
    Promise.all([
      ask<number[]>(getter),
      ask<number[]>(renewer),
      flooder === undefined ? { lists: 0, bytes: 0, rejected: 0 } : ask<FloodCounts>(flooder),
    ]);
  await delay(warmUpMs);
  await report();
  const before = (await server.usage()).cpuMs;
  const startedAt = performance.now();
  await delay(measuredMs);
  const [gets, renewals, { lists, bytes, rejected }] = await report();
  const ms = performance.now() - startedAt;
  const cpu = ((await server.usage()).cpuMs - before) / ms;
  const seconds = ms / 1000;
  return { gets, renewals, listsPerSecond: lists / seconds, mibPerSecond: bytes / (1 << 20) / seconds, rejected, cpu };
}

function print(protocol: Protocol, phases: Record<"quiet" | "on" | "off", Measured>): void {
  console.log(`${protocol}: ${parallel} parallel lists of ${objects} objects, ms`);
  const heads = ["", "gets", "p50", "p99", "max", "renewals", "p50", "p99", "max", "lists/s", "MiB/s", "429", "CPU"];
  console.log(row(heads));
  const cells = (times: readonly number[]): string[] => [
    String(times.length),
    ...[0.5, 0.99, 1].map((part) => percentile(times, part).toFixed(2)),
  ];
  for (const [phase, { gets, renewals, listsPerSecond, mibPerSecond, rejected, cpu }] of Object.entries(phases))
    console.log(
      row([
        phase,
        ...cells(gets),
        ...cells(renewals),
        listsPerSecond.toFixed(1),
        mibPerSecond.toFixed(0),
        String(rejected),
        cpu.toFixed(2),
      ]),
    );
  const p99 = (phase: keyof typeof phases): number => percentile(phases[phase].gets, 0.99);
  console.log(
    `p99 of gets: ${(p99("on") / p99("quiet")).toFixed(2)} × quiet (goal: 3), ${(p99("on") / p99("off")).toFixed(3)} × off (goal: 0.1)`,
  );
}

function row([first = "", ...others]: readonly string[]): string {
  return first.padEnd(8) + others.map((cell) => cell.padStart(10)).join("");
}

/** @param part from 0 to 1 */
function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
