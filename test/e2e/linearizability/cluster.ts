/** Three members of etcd and three servers as processes, with a network between them that fails. */
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultOptions } from "../../../src/index.ts";
import { etcdDefaults } from "../../../src/storage/etcd/options.ts";
import { type EtcdCluster, startEtcd } from "../../support/etcd.ts";
import { type Link, type LinkState, openLink } from "../../support/faulty-network.ts";
import { credentialsOf } from "../../support/kubeconfig-fields.ts";
import { main } from "../../support/program.ts";
import { type RawClient, rawClient } from "../../support/raw-client.ts";
import { quietControllers } from "../../support/start-test-server.ts";
import type { WatchTarget } from "./informer.ts";
import { type ReplicaConfig, readyLine } from "./replica.ts";

const program = join(import.meta.dirname, "replica.ts");
const library = pathToFileURL(join(dirname(main), "index.js")).href;

const startAttemptsMax = 5;

/** A server as a process. */
export interface ReplicaProcess {
  readonly client: RawClient | undefined;
  readonly watch: WatchTarget | undefined;
  /** What it logged last. */
  readonly log: string;
  /** Whether it ended by itself after it had started. */
  readonly crashed: boolean;
  /**
   * Resolves when it serves. As a supervisor does, starts it again if it ends before: a server ends
   * when etcd does not answer in time.
   *
   * @throws Error with its log if it has not started after several attempts
   */
  start(): Promise<void>;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** The link to a member. */
  setLink(member: number, state: LinkState): void;
}

export interface FaultyCluster {
  readonly etcd: EtcdCluster;
  readonly replicas: readonly ReplicaProcess[];
  /** The link between two members, in both directions. */
  setPeers(one: number, other: number, state: LinkState): void;
  close(): Promise<void>;
}

export async function startFaultyCluster(size: number): Promise<FaultyCluster> {
  const peers: Link[] = [];
  const etcd = await startEtcd({
    members: size,
    advertisedPeerPort: async (port) => {
      const link = await openLink(port, sourceOfPeer);
      peers.push(link);
      return link.port;
    },
  });
  const ids = await Promise.all(etcd.urls.map(memberId));
  const replicas = await Promise.all(Array.from({ length: size }, () => openReplica(etcd.urls)));
  await Promise.all(replicas.map((replica) => replica.start()));
  return {
    etcd,
    replicas,
    setPeers(one, other, state) {
      peers[one]?.set(state, ids[other]);
      peers[other]?.set(state, ids[one]);
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()));
      await etcd.close();
      for (const link of peers) link.close();
    },
  };
}

/** Members send their id with each request to another one. */
function sourceOfPeer(first: Buffer): string {
  return /^X-Server-From: ([0-9a-f]+)/im.exec(first.toString("latin1"))?.[1] ?? "";
}

async function memberId(url: string): Promise<string> {
  const answer = await fetch(`${url}/v3/maintenance/status`, { method: "POST", body: "{}" });
  const { header } = (await answer.json()) as { header: { member_id: string } };
  return BigInt(header.member_id).toString(16);
}

async function openReplica(urls: readonly string[]): Promise<ReplicaProcess & { close(): Promise<void> }> {
  const links = await Promise.all(urls.map((url) => openLink(Number(new URL(url).port))));
  const config = configOf(links.map(({ port }) => `http://127.0.0.1:${port}`));
  let child: ChildProcess | undefined;
  let client: RawClient | undefined;
  let watch: WatchTarget | undefined;
  let log = "";
  let crashed = false;
  const kill = async (): Promise<void> => {
    client?.close();
    client = undefined;
    watch = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child?.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  };
  /** @returns its kubeconfig; undefined if it ended before it served */
  const spawnServer = async (): Promise<string | undefined> => {
    const started = spawn(process.execPath, [program, JSON.stringify(config)], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    child = started;
    started.stderr.on("data", (text) => {
      log = `${log}${text}`.slice(-20_000);
    });
    const kubeconfig = await kubeconfigOf(started);
    if (kubeconfig !== undefined)
      started.once("exit", (code) => {
        crashed ||= code !== null;
      });
    return kubeconfig;
  };
  return {
    get client() {
      return client;
    },
    get watch() {
      return watch;
    },
    get log() {
      return log;
    },
    get crashed() {
      return crashed;
    },
    async start() {
      let kubeconfig: string | undefined;
      for (let attempt = 1; kubeconfig === undefined; attempt++) {
        if (attempt > startAttemptsMax) throw new Error(`the server did not start: ${log}`);
        kubeconfig = await spawnServer();
      }
      client = rawClient(kubeconfig);
      const port = Number(/server: https:\/\/[^:]+:(\d+)/.exec(kubeconfig)?.[1]);
      watch = { port, ...credentialsOf(kubeconfig) };
    },
    kill,
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    setLink: (member, state) => links[member]?.set(state),
    async close() {
      child?.kill("SIGCONT");
      await kill();
      for (const link of links) link.close();
    },
  };
}

function configOf(servers: readonly string[]): ReplicaConfig {
  const { leaderElection } = defaultOptions;
  return {
    library,
    options: {
      storage: "etcd",
      etcd: { ...etcdDefaults, servers },
      storageMediaType: "application/json",
      controllers: quietControllers,
      leaderElection: { ...leaderElection, leaseDurationMs: 4_000, renewDeadlineMs: 3_000, retryPeriodMs: 500 },
    },
  };
}

/** @returns undefined when the process has ended */
function kubeconfigOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let output = "";
    child.stdout?.on("data", (text) => {
      output += text;
      if (output.startsWith(readyLine) && output.endsWith("\n")) resolve(output);
    });
    child.once("exit", () => resolve(undefined));
  });
}
