/** A cluster whose API stays reachable while its candidate for the lease of the controllers starts and stops. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, waitFor } from "./aggregated-server.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "./etcd.ts";
import { type ClientCredentials, type RetryingClient, retryingClient } from "./retrying-client.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { type SharedCertificates, writeSharedCertificates } from "./shared-certificates.ts";

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
  const open = (name: string, port: number, flags: readonly string[]): Promise<ServerProcess> =>
    startServerProcess({ port, ca, flags: [...flagsOf(options, certificates, etcd, name), ...flags] });
  const port = await freePort();
  const url = `https://localhost:${port}`;
  let api = await open("api", port, none).catch(async (error: unknown) => {
    await etcd?.close();
    throw error;
  });
  const client = retryingClient(url, admin);
  const candidate =
    etcd === undefined
      ? restarted(() => api, port)
      : separate(await freePort(), (at, flags) => open("candidate", at, flags));

  /** The API is the candidate, too, because no other server can have the store. */
  function restarted(current: () => ServerProcess, at: number): Candidate {
    const restart = async (signal: "SIGTERM" | "SIGKILL", flags: readonly string[]): Promise<void> => {
      await current().end(signal);
      api = await open("api", at, flags);
    };
    return {
      port: at,
      isRunning: () => true,
      start: () => restart("SIGTERM", options.candidateFlags),
      stop: (signal) => restart(signal, none),
    };
  }

  function separate(at: number, start: (port: number, flags: readonly string[]) => Promise<ServerProcess>): Candidate {
    let running: ServerProcess | undefined;
    return {
      port: at,
      isRunning: () => running !== undefined,
      async start() {
        running = await start(at, options.candidateFlags);
      },
      async stop(signal) {
        await running?.end(signal);
        running = undefined;
      },
    };
  }

  const send: CandidateCluster["send"] = async (method, path, body) => {
    const { status, text } = await client.send(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  };
  return {
    url,
    certificates,
    client,
    start: candidate.start,
    stop: candidate.stop,
    leads: async () => candidate.isRunning() && readGauge(`https://localhost:${candidate.port}`, admin),
    send,
    async until(what, path, holds) {
      let last = "";
      await waitFor(
        async () => {
          const { status, text } = await client.send("GET", path);
          last = `${status} ${text}`;
          return holds(status === 404 ? undefined : JSON.parse(text));
        },
        () => `never: ${what}: ${last}`,
      );
    },
    async close() {
      client.close();
      if (etcd !== undefined) await candidate.stop("SIGKILL");
      await api.end("SIGKILL");
      await etcd?.close();
    },
  };
}

interface Candidate {
  readonly port: number;
  isRunning(): boolean;
  start(): Promise<void>;
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
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
