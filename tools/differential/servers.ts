/** The servers that are compared: running ones, or a kube-apiserver and a server of the sources with the same options. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface StartedServer {
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Options that both servers have: encodings that are off by default can be compared. */
export const sharedFlags: readonly string[] = [
  "--service-cluster-ip-range=10.0.0.0/16",
  "--feature-gates=CBORServingAndStorage=true",
];

/** That of the kube-apiserver which tests start. */
const issuer = "--service-account-issuer=https://kubernetes.default.svc";

/** @param file of a kubeconfig of a running server */
export function runningServer(file: string): StartedServer {
  return { kubeconfig: readFileSync(file, "utf8"), close: async () => {} };
}

/** @throws Error with the output when the process ends before it serves */
export async function startCoxswain(flags: readonly string[] = sharedFlags): Promise<StartedServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-differential-"));
  const main = join(import.meta.dirname, "../../src/main.ts");
  const own = ["--secure-port=0", "--storage=memory", `--data-dir=${directory}`, "--controllers=", issuer, ...flags];
  const child = spawn(process.execPath, [main, "serve", ...own], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const exited = new Promise<"ended">((resolve) => child.once("exit", () => resolve("ended")));
  const serves = new Promise<"serves">((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => {
        output = (output + piece.toString()).slice(-20_000);
        if (output.includes("Serving https://")) resolve("serves");
      });
  });
  if ((await Promise.race([serves, exited])) === "ended") throw new Error(`the server has ended: ${output}`);
  return {
    kubeconfig: readFileSync(join(directory, "kubeconfig"), "utf8"),
    async close() {
      child.kill("SIGKILL");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
