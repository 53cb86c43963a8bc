/** Runs a real kube-apiserver over an etcd, to compare answers and costs with its own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatKubeconfig } from "../../src/server/serving/kubeconfig.ts";
import { type EtcdCluster, freePorts, startEtcd } from "./etcd.ts";
import { http2Client } from "./http2-client.ts";
import { type SharedCertificates, writeSharedCertificates } from "./shared-certificates.ts";
import { eventually } from "./until.ts";
import { getUpstreamProgram } from "./upstream-programs.ts";

export interface KubeApiserver {
  /** Of a member of system:masters. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly pid: number;
  readonly certificates: SharedCertificates;
  /** The files of the certificates. */
  readonly directory: string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** The end of what it has logged. */
  readonly log: () => string;
  /** Ends it and its own etcd, and removes its files. */
  close(): Promise<void>;
}

export interface KubeApiserverOptions {
  /** URLs; an etcd of its own by default. */
  readonly etcd?: readonly string[];
  /** A free one by default. */
  readonly port?: number;
  /** More flags. */
  readonly flags?: readonly string[];
}

/** Starts it and waits until its bootstrap objects exist. @throws Error with its log when it ends before */
export async function startKubeApiserver(options: KubeApiserverOptions = {}): Promise<KubeApiserver> {
  const program = getUpstreamProgram("kube-apiserver");
  const directory = mkdtempSync(join(tmpdir(), "coxswain-kube-apiserver-"));
  const certificates = await writeSharedCertificates(directory);
  const port = options.port ?? ((await freePorts(1))[0] as number);
  const url = `https://127.0.0.1:${port}`;
  const admin = await certificates.client("kubernetes-admin", ["system:masters"]);
  const kubeconfig = formatKubeconfig(url, { caBundle: certificates.ca, admin });
  const ownEtcd: EtcdCluster | undefined = options.etcd === undefined ? await startEtcd() : undefined;
  const child = spawn(
    program,
    [
      `--etcd-servers=${(options.etcd ?? ownEtcd?.urls ?? []).join()}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      `--cert-dir=${directory}`,
      ...certificates.servingFlags,
      ...certificates.tokenFlags,
      ...(await certificates.proxyFlags()),
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--authorization-mode=Node,RBAC",
      "--allow-privileged",
      ...(options.flags ?? []),
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  child.stderr.on("data", (text) => {
    log = `${log}${text}`.slice(-20_000);
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    await ownEtcd?.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  try {
    await eventually(
      () => `kube-apiserver is ready: ${log}`,
      async () => hasEnded() || (await isReady(kubeconfig)),
    );
    if (hasEnded()) throw new Error(`kube-apiserver has ended: ${log}`);
    return { kubeconfig, url, pid: child.pid as number, certificates, directory, exited, log: () => log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Bootstrap objects exist when the client can read the last of them. */
async function isReady(kubeconfig: string): Promise<boolean> {
  const client = http2Client(kubeconfig);
  try {
    const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:job-controller";
    return (await client.send(`GET ${path}`)).status === 200;
  } catch {
    return false; // It does not listen yet.
  } finally {
    client.close();
  }
}
