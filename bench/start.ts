/**
 * `npm run bench -- --start`: CPU time until a server is ready, and its memory, of the packed command and of kube-apiserver with an etcd, which
 * `npm run upstream -- build kube-apiserver` and `npm run etcd` build. On Linux. CPU time depends less than seconds on what else runs on the machine. Then the times
 * of servers in one process, see start-library.ts.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdProgram, freePorts } from "../test/support/etcd.ts";
import { findUpstreamProgram, getUpstreamProgram } from "../test/support/upstream-programs.ts";
import { median } from "./median.ts";
import { executableBench } from "./start-executable.ts";
import { libraryStartBench } from "./start-library.ts";
import { testKitBench } from "./start-test-kit.ts";

const rounds = 5;
const readyTimeoutMs = 120_000;
const main = join(import.meta.dirname, "../dist/main.js");
/** Linux reports CPU time in hundredths of a second. */
const ticksPerSecond = 100;

type Program = readonly [command: string, ...args: string[]];

interface Setup {
  readonly name: string;
  /** Started in this order; the last is ready when it answers `/readyz`. */
  programs(directory: string, ports: readonly number[]): readonly Program[];
}

const coxswain = (storage: "lmdb" | "memory"): Setup => ({
  name: `coxswain, ${storage}`,
  programs: (directory, [port]) => [
    [process.execPath, main, `--secure-port=${port}`, `--data-dir=${directory}/data`, `--storage=${storage}`],
  ],
});

const upstream: Setup = {
  name: "kube-apiserver and etcd",
  programs(directory, [port, client, peer]) {
    const key = join(directory, "key");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
    const url = `http://127.0.0.1:${client}`;
    const peers = `http://127.0.0.1:${peer}`;
    const etcd = ["--data-dir", `${directory}/etcd`, "--listen-client-urls", url, "--advertise-client-urls", url];
    return [
      [etcdProgram as string, ...etcd, "--listen-peer-urls", peers, "--unsafe-no-fsync"],
      [
        getUpstreamProgram("kube-apiserver"),
        `--etcd-servers=${url}`,
        `--secure-port=${port}`,
        "--bind-address=127.0.0.1",
        `--cert-dir=${directory}/certs`,
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        `--service-account-key-file=${key}`,
        `--service-account-signing-key-file=${key}`,
        "--service-cluster-ip-range=10.0.0.0/24",
        "--authorization-mode=RBAC",
      ],
    ];
  },
};

/** Prints the median of some starts of each setup, and of the library. */
export async function startBench(): Promise<void> {
  execFileSync(process.execPath, [join(import.meta.dirname, "../tools/build.ts")]); // An older build would be measured.
  const setups = [coxswain("lmdb"), coxswain("memory")];
  if (findUpstreamProgram("kube-apiserver") !== undefined && etcdProgram !== undefined) setups.push(upstream);
  for (const setup of setups) {
    const starts: Start[] = [];
    for (let round = 0; round < rounds; round++) starts.push(await measure(setup));
    const [cpu, memory] = [median(starts.map((one) => one.cpuSeconds)), median(starts.map((one) => one.memoryMiB))];
    console.log(`${setup.name}: ${cpu.toFixed(2)} s of CPU time until ready, then ${memory.toFixed(0)} MiB`);
  }
  executableBench(main);
  await libraryStartBench(join(main, "../index.js"));
  testKitBench(join(main, "../testing.js"));
}

interface Start {
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}

async function measure({ programs }: Setup): Promise<Start> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-start-"));
  const ports = await freePorts(3);
  const children = programs(directory, ports).map(([command, ...args]) => spawn(command, args, { stdio: "ignore" }));
  try {
    await untilReady(ports[0] as number, children);
    const sum = (of: (pid: number) => number): number => children.reduce((all, { pid = 0 }) => all + of(pid), 0);
    return { cpuSeconds: sum(cpuSecondsOf), memoryMiB: sum(memoryMiBOf) };
  } finally {
    await Promise.all(children.map(kill));
    rmSync(directory, { recursive: true });
  }
}

async function untilReady(port: number, children: readonly ChildProcess[]): Promise<void> {
  for (const end = Date.now() + readyTimeoutMs; Date.now() < end; ) {
    if (children.some(({ exitCode }) => exitCode !== null)) throw new Error("a program ended");
    if (await isReady(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("a server is not ready");
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ port, host: "127.0.0.1", path: "/readyz", rejectUnauthorized: false, agent: false });
    sent.on("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    sent.on("error", () => resolve(false)); // It does not listen yet.
    sent.end();
  });
}

/** Of all threads. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function memoryMiBOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exited;
}
