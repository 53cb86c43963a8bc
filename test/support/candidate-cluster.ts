/** A cluster whose API stays reachable while its candidate for the lease of the controllers starts and stops. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./aggregated-server.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "./etcd.ts";
import { type ClientCredentials, type RetryingClient, retryingClient } from "./retrying-client.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { type SharedCertificates, writeSharedCertificates } from "./shared-certificates.ts";
import { eventually } from "./until.ts";

/** The engines that keep objects when a server ends, and why their tests are skipped. */
export const durableEngines: readonly (readonly [engine: "lmdb" | "etcd", skip: string | false])[] = [
  ["lmdb", false],
  ["etcd", skipWithoutEtcd],
];

export interface CandidateCluster {
  /** The URL of the API. */
  readonly url: string;
  readonly certificates: SharedCertificates;
  /** Of an administrator. */
  readonly client: RetryingClient;
  /** Starts the server that runs controllers. */
  start(): Promise<void>;
  /** Ends it. With the embedded engine, the API is restarted without controllers. */
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** The gauge of the candidate; false while it does not run. */
  leads(): Promise<boolean>;
  /** Sends a request. @throws Error unless it succeeds */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  send(method: string, path: string, body?: object): Promise<any>;
  /** Repeats a read until the body holds. @throws Error after a minute and a half */
  until(what: string, path: string, holds: (body: Body) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** The body of an answer; undefined when it is 404. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Body = any;

interface Options {
  readonly engine: "lmdb" | "etcd";
  /** For all files. */
  readonly directory: string;
  /** Of all servers. */
  readonly flags: readonly string[];
  /** Of the candidate. */
  readonly candidateFlags: readonly string[];
}

const none = ["--controllers="];

/** Starts the API without a candidate. */
export async function openCandidateCluster(options: Options): Promise<CandidateCluster> {
  const { engine, directory } = options;
  const certificates = await writeSharedCertificates(directory);
  const { ca } = certificates;
  const admin = { ca, ...(await certificates.client("admin", ["system:masters"])) };
  const etcd = engine === "etcd" ? await startEtcd() : undefined;
  const serverAt = (name: string, port: number): Server => {
    const own = flagsOf(options, certificates, etcd, name);
    return serverOf(port, (flags) => startServerProcess({ port, ca, flags: [...own, ...flags] }));
  };
  const api = serverAt("api", await freePort());
  await api.start(none).catch(async (error: unknown) => {
    await etcd?.close();
    throw error;
  });
  const other = etcd && serverAt("candidate", await freePort());
  const candidate = other ?? api;
  const url = `https://localhost:${api.port}`;
  const client = retryingClient(url, admin);
  return {
    url,
    certificates,
    client,
    async start() {
      if (other === undefined) await api.end("SIGTERM");
      await candidate.start(options.candidateFlags);
    },
    async stop(signal) {
      await candidate.end(signal);
      if (other === undefined) await api.start(none);
    },
    leads: async () => candidate.isRunning() && readGauge(`https://localhost:${candidate.port}`, admin),
    ...requestsOf(client),
    async close() {
      client.close();
      await other?.end("SIGKILL");
      await api.end("SIGKILL");
      await etcd?.close();
    },
  };
}

/** A server that can be started again at its port. */
interface Server {
  readonly port: number;
  isRunning(): boolean;
  start(flags: readonly string[]): Promise<void>;
  /** Ends it if it runs. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

function serverOf(port: number, open: (flags: readonly string[]) => Promise<ServerProcess>): Server {
  let running: ServerProcess | undefined;
  return {
    port,
    isRunning: () => running !== undefined,
    async start(flags) {
      running = await open(flags);
    },
    async end(signal) {
      await running?.end(signal);
      running = undefined;
    },
  };
}

function requestsOf(client: RetryingClient): Pick<CandidateCluster, "send" | "until"> {
  return {
    async send(method, path, body) {
      const { status, text } = await client.send(method, path, body);
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
      return JSON.parse(text);
    },
    async until(what, path, holds) {
      let last = "";
      const check = async (): Promise<boolean> => {
        const { status, text } = await client.send("GET", path);
        last = `${status} ${text}`;
        return holds(status === 404 ? undefined : JSON.parse(text));
      };
      await eventually(() => `${what}: ${last}`, check);
    },
  };
}

function flagsOf(
  { directory, flags }: Options,
  { servingFlags, tokenFlags }: SharedCertificates,
  etcd: EtcdCluster | undefined,
  name: string,
): readonly string[] {
  const dataDir = join(directory, name);
  mkdirSync(dataDir, { recursive: true });
  // Without an authority of front proxies, kube-controller-manager logs errors as it does with kube-apiserver.
  const proxies = ["--requestheader-client-ca-file", join(directory, "ca.crt"), "--requestheader-allowed-names=proxy"];
  const store = etcd === undefined ? [] : ["--etcd-servers", etcd.urls.join()];
  return ["--data-dir", dataDir, ...store, ...servingFlags, ...tokenFlags, ...proxies, ...flags];
}

async function readGauge(url: string, credentials: ClientCredentials): Promise<boolean> {
  const client = retryingClient(url, credentials);
  try {
    const { text } = await client.send("GET", "/metrics");
    return /^leader_election_master_status\{name="kube-controller-manager"\} 1$/m.test(text);
  } finally {
    client.close();
  }
}
