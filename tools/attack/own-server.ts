/** A server of the sources in a process of its own, for attacks without another one. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface OwnServer {
  /** The file of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Whether the process has ended. */
  readonly ended: () => boolean;
  /** The end of its output. */
  readonly output: () => string;
  close(): Promise<void>;
}

const outputMax = 20_000;
const auditPolicy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };

/** @throws Error with the output when the process ends before it serves */
export async function startOwnServer(): Promise<OwnServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-attack-"));
  const policy = join(directory, "policy.yaml");
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const main = join(import.meta.dirname, "../../src/main.ts");
  const flags = ["--secure-port=0", "--storage=memory", `--data-dir=${directory}`, `--audit-policy-file=${policy}`];
  const more = [`--audit-log-path=${join(directory, "audit.log")}`, "--feature-gates=ShardedListAndWatch=true"];
  const child = spawn(process.execPath, [main, "serve", ...flags, ...more], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let ended = false;
  const exited = new Promise<void>((resolve) =>
    child.once("exit", () => {
      ended = true;
      resolve();
    }),
  );
  const serves = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => {
        output = (output + piece.toString()).slice(-outputMax);
        if (output.includes("Serving https://")) resolve();
      });
  });
  await Promise.race([serves, exited]);
  if (ended) throw new Error(`the server has ended: ${output}`);
  return {
    kubeconfig: join(directory, "kubeconfig"),
    ended: () => ended,
    output: () => output,
    async close() {
      child.kill("SIGKILL");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
