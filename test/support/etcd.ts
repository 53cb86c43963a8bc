/** Runs etcd servers for tests: the one that `npm run etcd` has built, or that COXSWAIN_ETCD names. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/apimachinery/clock.ts";
import type { EtcdOptions } from "../../src/storage/etcd/etcd-storage.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";
import { reasonOf } from "./needs.ts";
import { eventually } from "./until.ts";

const built = join(import.meta.dirname, "..", "..", ".etcd", "etcd");

/** The program; undefined when there is none. */
export const etcdProgram: string | undefined = process.env.COXSWAIN_ETCD ?? (existsSync(built) ? built : undefined);

/** Why tests that need etcd are skipped; false when they are not. */
export const skipWithoutEtcd: string | false = etcdProgram === undefined && reasonOf("etcd", "npm run etcd");

/** An etcd before 3.4.31 or 3.5.13, such as Debian's package etcd-server has; undefined without one. */
export const oldEtcdProgram = process.env.COXSWAIN_OLD_ETCD;

/** Why tests that need an old etcd are skipped; false when they are not. */
export const skipWithoutOldEtcd: string | false =
  oldEtcdProgram === undefined && reasonOf("etcd before 3.4.31", "COXSWAIN_OLD_ETCD=FILE");

/** Options of the engine with the defaults of the server, except that it does nothing periodically. */
export const etcdOptions: Omit<EtcdOptions, "servers"> = {
  clock: systemClock,
  prefix: "/registry",
  valueBytesMax: valueBytesMaxDefault,
  leaseReuseSeconds: 60,
  healthTimeoutMs: 2_000,
  readyTimeoutMs: 2_000,
  sizePollMs: 0,
  compactionIntervalMs: 0,
  startTimeoutMs: 30_000,
};

/** A running member. */
export interface EtcdMember {
  /** The URL for clients. */
  readonly url: string;
  readonly pid: number;
  /** Ends the process at once, as a crash does; the data is kept. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with the same data and addresses. */
  start(): Promise<void>;
  /** Stops or continues the process, as SIGSTOP and SIGCONT do. */
  pause(): void;
  resume(): void;
}

/** A running cluster. */
export interface EtcdCluster {
  readonly urls: readonly string[];
  readonly members: readonly EtcdMember[];
  readonly directory: string;
  close(): Promise<void>;
}

export interface EtcdClusterOptions {
  /** Replaces `etcdProgram`. */
  readonly program?: string | undefined;
  readonly members?: number;
  /** More flags for each member. */
  readonly flags?: readonly string[];
  /** More URLs at which the only member serves clients. */
  readonly moreUrls?: readonly string[];
  /** `https` needs flags that name certificates; `http` by default. */
  readonly peerScheme?: "http" | "https";
  /** Returns the port at which the other members reach the one that listens at the port; the same by default. */
  readonly advertisedPeerPort?: (port: number) => Promise<number>;
}

/** Starts a cluster without durable writes: its members crash only as processes. */
export async function startEtcd(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const { program = etcdProgram, members: count = 1, flags = [], moreUrls = [] } = options;
  const { peerScheme = "http", advertisedPeerPort = async (port) => port } = options;
  if (program === undefined) throw new Error("there is no etcd");
  const directory = mkdtempSync(join(tmpdir(), "coxswain-etcd-"));
  const ports = await freePorts(2 * count);
  const names = Array.from({ length: count }, (_, at) => `m${at}`);
  const client = (at: number): string => `http://127.0.0.1:${ports[2 * at]}`;
  const peerPorts = names.map((_, at) => ports[2 * at + 1] as number);
  const peers: string[] = [];
  for (const port of peerPorts) peers.push(`${peerScheme}://127.0.0.1:${await advertisedPeerPort(port)}`);
  const cluster = names.map((name, at) => `${name}=${peers[at]}`).join(",");
  const members = names.map((name, at) =>
    member(program, client(at), [
      `--name=${name}`,
      `--data-dir=${join(directory, name)}`,
      `--listen-client-urls=${[client(at), ...moreUrls].join()}`,
      `--advertise-client-urls=${client(at)}`,
      `--listen-peer-urls=${peerScheme}://127.0.0.1:${peerPorts[at]}`,
      `--initial-advertise-peer-urls=${peers[at]}`,
      `--initial-cluster=${cluster}`,
      "--unsafe-no-fsync",
      "--heartbeat-interval=20",
      "--election-timeout=200",
      "--log-level=error",
      "--logger=zap",
      ...flags,
    ]),
  );
  await Promise.all(members.map((one) => one.start()));
  return {
    urls: members.map(({ url }) => url),
    members,
    directory,
    async close() {
      await Promise.all(members.map((one) => one.kill()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function member(program: string, url: string, args: readonly string[]): EtcdMember {
  let process: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  return {
    url,
    get pid() {
      return process?.pid ?? 0;
    },
    async start() {
      const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
      let log = "";
      child.stderr.on("data", (text) => {
        log = `${log}${text}`.slice(-4000);
      });
      process = child;
      exited = new Promise((resolve) => child.once("exit", () => resolve()));
      await waitUntilHealthy(url, () => child.exitCode !== null);
      if (child.exitCode !== null) throw new Error(`etcd ended: ${log}`);
    },
    async kill() {
      process?.kill("SIGKILL");
      await exited;
    },
    pause: () => void process?.kill("SIGSTOP"),
    resume: () => void process?.kill("SIGCONT"),
  };
}

/** Copies the data directory of a killed member, without the large file that etcd allocates for its next log. */
export function copyMemberData(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith(".tmp") });
}

async function waitUntilHealthy(url: string, hasEnded: () => boolean): Promise<void> {
  await eventually(`etcd at ${url} is healthy`, async () => {
    if (hasEnded()) return true;
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) });
    return answer.ok;
  });
}

/** Ports that are free now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer();
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
