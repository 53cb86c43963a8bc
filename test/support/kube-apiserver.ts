/** Runs a real kube-apiserver, which COXSWAIN_KUBE_APISERVER names, over an etcd. */
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./etcd.ts";
import { http2Client } from "./http2-client.ts";
import { eventually } from "./until.ts";

/** The program; undefined without one. */
export const kubeApiserver = process.env.COXSWAIN_KUBE_APISERVER;

export interface KubeApiserver {
  /** Of the user in the given kubeconfig, for this server. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

interface Options {
  readonly etcd: readonly string[];
  /** The authority of clients. */
  readonly clientCaFile: string;
  /** Of a user whose certificate this authority has issued, for any server. */
  readonly kubeconfig: string;
}

/** Starts it and waits until it is ready. */
export async function startKubeApiserver({ etcd, clientCaFile, kubeconfig }: Options): Promise<KubeApiserver> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-kube-apiserver-"));
  const file = (name: string): string => join(directory, name);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(file("key"), privateKey.export({ type: "pkcs8", format: "pem" }));
  const [port] = await freePorts(1);
  const args = [
    `--etcd-servers=${etcd.join()}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${file("certs")}`,
    `--client-ca-file=${clientCaFile}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${file("key")}`,
    `--service-account-signing-key-file=${file("key")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--authorization-mode=Node,RBAC",
    "--disable-admission-plugins=ServiceAccount",
  ];
  const child = spawn(kubeApiserver as string, args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (text) => {
    log = `${log}${text}`.slice(-4000);
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    rmSync(directory, { recursive: true, force: true });
  };
  const certificate = file("certs/apiserver.crt");
  const ready = async (): Promise<string | false> => {
    if (child.exitCode !== null) return "";
    if (!existsSync(certificate)) return false;
    const own = kubeconfig
      .replace(/server: .*/, `server: https://127.0.0.1:${port}`)
      .replace(/certificate-authority-data: .*/, `certificate-authority-data: ${readFileSync(certificate, "base64")}`);
    return (await isReady(own)) && own;
  };
  try {
    const own = await eventually(() => `kube-apiserver is ready: ${log}`, ready);
    if (own === "") throw new Error(`kube-apiserver has ended: ${log}`);
    return { kubeconfig: own, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Bootstrap objects exist when it can list them. */
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
