/**
 * This server and upstream's sample API server, as processes over one etcd with the same
 * certificates, and one kind of objects: Flunders of the sample, and custom resources of the same
 * shape.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatKubeconfig } from "../src/server/serving/kubeconfig.ts";
import type { KeyPair } from "../src/server/serving/x509.ts";
import { freePort } from "../test/support/aggregated-server.ts";
import { type SharedCertificates, writeSharedCertificates } from "../test/support/shared-certificates.ts";
import { BenchClient, type Target } from "./client.ts";

const group = "wardle.example.com";
export const namespace = "bench";
export const collection = `/apis/${group}/v1alpha1/namespaces/${namespace}/flunders`;

/** A server under test. */
export interface Subject {
  readonly name: string;
  readonly pid: number;
  readonly client: BenchClient;
  /** The prefix of the keys of its objects in etcd. */
  readonly keys: string;
  stop(): Promise<void>;
}

interface Certificates {
  readonly shared: SharedCertificates;
  /** Of a user in `system:masters`. */
  readonly client: KeyPair;
}

/** Creates certificates of one authority for servers and clients. */
export async function writeCertificates(directory: string): Promise<Certificates> {
  const shared = await writeSharedCertificates(directory);
  return { shared, client: await shared.client("bench", ["system:masters"]) };
}

/** The object of both servers: 1 KB with its payload. */
export function flunder(name: string, { payload = "x".repeat(700), labels = {}, resourceVersion = "" } = {}): string {
  const metadata = { name, labels, ...(resourceVersion !== "" && { resourceVersion }) };
  return JSON.stringify({ apiVersion: `${group}/v1alpha1`, kind: "Flunder", metadata, spec: { reference: payload } });
}

/** Where the servers are started. */
export interface Start {
  readonly directory: string;
  readonly certificates: Certificates;
  readonly etcd: string;
}

/** Starts this server. @param node more flags of Node */
export async function startOurs(
  { directory, certificates, etcd }: Start,
  node: readonly string[] = [],
): Promise<Subject> {
  const flags = ["--etcd-servers", etcd, "--etcd-prefix", "/ours"];
  const subject = await startCommand("coxswain", { directory, certificates, flags, node });
  await createDefinition(subject.client);
  return { ...subject, keys: `/ours/${group}/flunders/` };
}

/** Builds the sample. @throws Error when Go cannot build it */
export function buildSample(directory: string): string {
  const program = join(directory, "sample-apiserver");
  const cwd = join(import.meta.dirname, "../test/e2e/sample-server");
  const built = spawnSync("go", ["build", "-o", program, "k8s.io/sample-apiserver"], { cwd, stdio: "inherit" });
  if (built.status !== 0) throw new Error("the sample API server cannot be built: is Go installed?");
  return program;
}

/** Starts the sample, and a server in memory to which it delegates. */
export async function startSample({ directory, certificates, etcd }: Start, program: string): Promise<Subject> {
  const core = await startCommand("core", { directory, certificates, flags: ["--storage=memory"], node: [] });
  const kubeconfig = join(directory, "core.kubeconfig");
  writeFileSync(
    kubeconfig,
    formatKubeconfig(core.url, { caBundle: certificates.shared.ca, admin: certificates.client }),
    { mode: 0o600 },
  );
  const port = await freePort();
  const delegates = ["--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"];
  const flags = [
    ...[
      "--etcd-servers",
      etcd,
      "--etcd-prefix",
      "/sample",
      "--secure-port",
      String(port),
      "--bind-address",
      "127.0.0.1",
    ],
    ...certificates.shared.servingFlags,
    ...delegates.flatMap((flag) => [flag, kubeconfig]),
  ];
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", openSync(join(directory, "sample.log"), "w")] });
  const subject = await ready("sample-apiserver", child, `https://127.0.0.1:${port}`, certificates);
  return {
    ...subject,
    keys: `/sample/${group}/flunders/`,
    async stop() {
      await subject.stop();
      await core.stop();
    },
  };
}

interface Command {
  readonly directory: string;
  readonly certificates: Certificates;
  readonly flags: readonly string[];
  readonly node: readonly string[];
}

async function startCommand(name: string, { directory, certificates, flags, node }: Command) {
  const port = await freePort();
  const main = join(import.meta.dirname, "../src/main.ts");
  const args = [
    "--data-dir",
    join(directory, name),
    "--secure-port",
    String(port),
    ...certificates.shared.servingFlags,
    ...flags,
  ];
  const log = openSync(join(directory, `${name}.log`), "w");
  const child = spawn(process.execPath, ["--max-semi-space-size=8", ...node, main, ...args], {
    stdio: ["ignore", log, log],
  });
  const url = `https://127.0.0.1:${port}`;
  const subject = await ready(name, child, url, certificates);
  const metadata = { name: namespace };
  await subject.client.send({ method: "POST", path: "/api/v1/namespaces", body: JSON.stringify({ metadata }) });
  return { ...subject, url };
}

/** Waits until a server is ready. */
async function ready(
  name: string,
  child: ChildProcess,
  url: string,
  { shared, client: { cert, key } }: Certificates,
): Promise<Omit<Subject, "keys">> {
  const target: Target = { url, ca: shared.ca, cert, key };
  const until = Date.now() + 120_000;
  for (;;) {
    const client = new BenchClient(target);
    const { status } = await client.send({ method: "GET", path: "/readyz" }).catch(() => ({ status: 0 }));
    if (status === 200) return { name, pid: child.pid as number, client, stop: () => stop(child, client) };
    client.close();
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${name} does not start: see its log`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function stop(child: ChildProcess, client: BenchClient): Promise<void> {
  client.close();
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

async function createDefinition(client: BenchClient): Promise<void> {
  const text = { type: "string" };
  const spec = { type: "object", properties: { reference: text, referenceType: text } };
  const openAPIV3Schema = { type: "object", properties: { spec, status: { type: "object" } } };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `flunders.${group}` },
    spec: {
      group,
      names: { plural: "flunders", kind: "Flunder" },
      scope: "Namespaced",
      versions: [{ name: "v1alpha1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const { status, body } = await client.send({ method: "POST", path, body: JSON.stringify(definition) });
  if (status !== 201 && status !== 409) throw new Error(body);
  while ((await client.send({ method: "GET", path: collection })).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, 50));
}
