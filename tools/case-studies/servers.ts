/** The two servers of a study, with the same certificates, flags and controllers. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { formatKubeconfig } from "../../src/server/serving/kubeconfig.ts";
import { freePorts, startEtcd } from "../../test/support/etcd.ts";
import { http2Client } from "../../test/support/http2-client.ts";
import { type KubeApiserver, startKubeApiserver } from "../../test/support/kube-apiserver.ts";
import { type ControllerManager, startControllerManager } from "../../test/support/kube-controller-manager.ts";
import { type SharedCertificates, writeSharedCertificates } from "../../test/support/shared-certificates.ts";
import { eventually } from "../../test/support/until.ts";

export type ServerName = "coxswain" | "kube-apiserver";

export interface StudyServer {
  /** The text of a kubeconfig of an administrator. */
  readonly admin: string;
  /** The text of a kubeconfig of the program's user. */
  readonly program: string;
  /** The ids of its processes, by name. */
  readonly processes: Readonly<Record<string, number>>;
  /** The audit log: a line for each request. */
  audit(): string;
  close(): Promise<void>;
}

/** The user of the programs, in the audit log. */
export const programUser = "case-study";

/** This server runs them by itself; kube-controller-manager runs only them. */
const controllers = "namespace,garbagecollector,serviceaccount,root-ca-cert-publisher,clusterrole-aggregation";

const policy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [{ level: "Metadata", users: [programUser] }, { level: "None" }],
};

const root = join(import.meta.dirname, "../..");

/** Builds the package of this server, so that not an older one is measured. */
export function buildPackage(): void {
  execFileSync(process.execPath, [join(root, "tools/build.ts")]);
}

/** Starts a server with an empty store. @throws Error when it does not become ready */
export async function startStudyServer(name: ServerName): Promise<StudyServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-study-"));
  const log = join(directory, "audit.log");
  writeFileSync(join(directory, "policy.yaml"), JSON.stringify(policy));
  const flags = [`--audit-policy-file=${join(directory, "policy.yaml")}`, `--audit-log-path=${log}`];
  const server = await (name === "coxswain" ? startCoxswain(directory, flags) : startUpstream(flags));
  const kubeconfigOf = async (user: string): Promise<string> =>
    formatKubeconfig(server.url, {
      caBundle: server.certificates.ca,
      admin: await server.certificates.client(user, ["system:masters"]),
    });
  return {
    admin: await kubeconfigOf("admin"),
    program: await kubeconfigOf(programUser),
    processes: server.processes,
    audit: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface Started {
  readonly url: string;
  readonly certificates: SharedCertificates;
  readonly processes: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

async function startCoxswain(directory: string, flags: readonly string[]): Promise<Started> {
  mkdirSync(join(directory, "data"));
  const certificates = await writeSharedCertificates(directory);
  const [port] = (await freePorts(1)) as [number];
  const child = spawn(
    process.execPath,
    [
      join(root, "dist/main.js"),
      "serve",
      `--secure-port=${port}`,
      `--data-dir=${join(directory, "data")}`,
      `--controllers=${controllers}`,
      ...certificates.servingFlags,
      ...certificates.tokenFlags,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--allow-privileged",
      ...flags,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout); // The first line is written when the server is ready.
  if ((await Promise.race([once(lines, "line"), exited.then(() => undefined)])) === undefined)
    throw new Error("the server has ended");
  child.stdout.resume();
  return {
    url: `https://127.0.0.1:${port}`,
    certificates,
    processes: { coxswain: child.pid as number },
    async close() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function startUpstream(flags: readonly string[]): Promise<Started> {
  const durable = ["--unsafe-no-fsync=false", "--heartbeat-interval=100", "--election-timeout=1000"];
  const etcd = await startEtcd({ flags: durable });
  const server = await startKubeApiserver({ etcd: etcd.urls, flags });
  const manager = await startManager(server);
  return {
    url: server.url,
    certificates: server.certificates,
    processes: {
      "kube-apiserver": server.pid,
      etcd: (etcd.members[0] as { pid: number }).pid,
      "kube-controller-manager": manager.pid,
    },
    async close() {
      await manager.end("SIGKILL");
      await server.close();
      await etcd.close();
    },
  };
}

/** It ends by itself when it starts before kube-apiserver has made its roles. */
async function startManager(server: KubeApiserver): Promise<ControllerManager> {
  const flags = ["--leader-elect=false", `--controllers=${controllers}`];
  const client = http2Client(server.kubeconfig);
  let manager = await startControllerManager({ ...server, flags });
  await eventually("kube-controller-manager makes service accounts", async () => {
    const { status } = await client.send("GET /api/v1/namespaces/default/serviceaccounts/default");
    if (status === 200) return true;
    const hasEnded = await manager.leads().then(
      () => false,
      () => true,
    );
    if (hasEnded) manager = await startControllerManager({ ...server, flags });
    return false;
  });
  client.close();
  return manager;
}
