/** Runs a real kube-controller-manager. */
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import { formatKubeconfig } from "../../src/server/serving/kubeconfig.ts";
import { freePort } from "./aggregated-server.ts";
import type { SharedCertificates } from "./shared-certificates.ts";
import { getUpstreamProgram } from "./upstream-programs.ts";

export interface ControllerManager {
  readonly pid: number;
  /** All that it has logged. */
  readonly log: () => string;
  /** The gauge of the election. @throws Error when it has ended */
  leads(): Promise<boolean>;
  /** Sends the signal and waits for the end. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

interface Options {
  /** The URL of the server. */
  readonly url: string;
  readonly certificates: SharedCertificates;
  /** For its files. */
  readonly directory: string;
  readonly flags: readonly string[];
}

const logBytesMax = 50_000_000;
const gauge = /^leader_election_master_status\{name="kube-controller-manager"\} ([01])$/m;

/** Starts it as its own user, with one service account for each controller. It may not be ready yet. */
export async function startControllerManager({
  url,
  certificates,
  directory: parent,
  flags,
}: Options): Promise<ControllerManager> {
  const directory = mkdtempSync(join(parent, "kube-controller-manager-"));
  const kubeconfig = join(directory, "kubeconfig");
  const admin = await certificates.client("system:kube-controller-manager");
  writeFileSync(kubeconfig, formatKubeconfig(url, { caBundle: certificates.ca, admin }), { mode: 0o600 });
  const port = await freePort();
  const child = spawn(
    getUpstreamProgram("kube-controller-manager"),
    [
      ...["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map(
        (flag) => `--${flag}=${kubeconfig}`,
      ),
      "--authorization-always-allow-paths=/metrics",
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${directory}`,
      "--use-service-account-credentials",
      `--service-account-private-key-file=${join(parent, "tokens.key")}`,
      `--root-ca-file=${join(parent, "ca.crt")}`,
      "--v=4",
      ...flags,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let log = "";
  child.stderr.on("data", (text) => {
    log = (log + text).slice(-logBytesMax);
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid as number,
    log: () => log,
    async leads() {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`kube-controller-manager has ended: ${log.slice(-4_000)}`);
      return gauge.exec(await readMetrics(port))?.[1] === "1";
    },
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

/** @returns an empty text when it does not listen yet */
function readMetrics(port: number): Promise<string> {
  return new Promise((resolve) => {
    const request = https.get({ host: "127.0.0.1", port, path: "/metrics", rejectUnauthorized: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("close", () => resolve(text));
    });
    request.on("error", () => resolve(""));
  });
}
