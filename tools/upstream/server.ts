/** `npm run upstream -- server`: a kube-apiserver to compare with, until the program is interrupted. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { startKubeApiserver } from "../../test/support/kube-apiserver.ts";
import { startControllerManager } from "../../test/support/kube-controller-manager.ts";
import { getUpstreamProgram } from "../../test/support/upstream-programs.ts";

export interface ServerOptions {
  readonly port?: number;
  /** The file that is written. */
  readonly kubeconfig: string;
  readonly controllers?: true;
  readonly scheduler?: true;
  readonly flags: readonly string[];
}

/** Ends with the first signal, or when kube-apiserver ends. */
export async function runServer({ kubeconfig, controllers, scheduler, ...options }: ServerOptions): Promise<void> {
  const server = await startKubeApiserver(options);
  writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 });
  const manager = controllers && (await startControllerManager({ ...server, flags: ["--leader-elect=false"] }));
  const scheduling = scheduler && startScheduler(kubeconfig);
  console.log(`kube-apiserver serves ${server.url}: export KUBECONFIG=${kubeconfig}`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), server.exited]);
  scheduling?.kill("SIGKILL");
  await manager?.end("SIGKILL");
  await server.close();
}

function startScheduler(kubeconfig: string): ChildProcess {
  const args = ["--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0"];
  const files = ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"];
  return spawn(getUpstreamProgram("kube-scheduler"), [...args, ...files.map((flag) => `--${flag}=${kubeconfig}`)], {
    stdio: "ignore",
  });
}
