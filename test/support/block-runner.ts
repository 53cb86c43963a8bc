/** Runs the commands of documents with a server of the command, in a directory with example files. */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CodeBlock } from "./code-blocks.ts";
import { compiled, main } from "./program.ts";

const root = join(import.meta.dirname, "../..");
const timeoutMs = 120_000;

/** Files that documents name, and where their content is. */
const files: Readonly<Record<string, string>> = {
  "crd.yaml": "src/cli/cel/testdata/crd.yaml",
  "widget.yaml": "src/cli/cel/testdata/widget.yaml",
  "policies.yaml": "src/cli/policy/testdata/policies.yaml",
  "deployment.yaml": "src/cli/policy/testdata/deployment.yaml",
  "params.yaml": "src/cli/policy/testdata/params.yaml",
  "pods.yaml": "src/cli/pod-security/testdata/allowed.yaml",
};

const service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}\n";

/** Commands that differ from those of a user: `npm start` runs this code, and a watch ends after its first event. */
const programs = (kubectl: string): Readonly<Record<string, string>> => ({
  coxswain: `exec "${process.execPath}" "${main}" "$@"`,
  npm: `[ "$1 $2" = "start --" ] || exit 64\nshift 2\nexec coxswain "$@"`,
  kubectl: `case " $* " in
*" --watch "*)
  "${kubectl}" "$@" > watched & pid=$!
  until [ -s watched ]; do kill -0 $pid || exit 1; sleep 0.1; done
  kill $pid;;
*) exec "${kubectl}" "$@";;
esac`,
});

/** Commands of the package exit with 1 for a result such as "not allowed", and with 2 for an error. */
const preamble =
  'set -euo pipefail\ncoxswain() { command coxswain "$@" || [ $? = 1 ]; }\nnpm() { command npm "$@" || [ $? = 1 ]; }\n';

export interface BlockRunner {
  /** @returns the output @throws Error with the output when a command fails */
  run(block: CodeBlock): Promise<string>;
  close(): Promise<void>;
}

/** Starts the server. @param kubectl the path of a kubectl */
export async function openBlockRunner(kubectl: string): Promise<BlockRunner> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-blocks-"));
  mkdirSync(join(directory, "bin"));
  for (const [name, script] of Object.entries(programs(kubectl)))
    writeFileSync(join(directory, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const dataDir = join(directory, "data");
  const flags = ["--data-dir", dataDir, "--secure-port", "0", "--enable-admission-explain"];
  const child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  const url = await urlOf(child);
  const kubeconfig = join(dataDir, "kubeconfig");
  const path = `${join(directory, "bin")}:${process.env.PATH}`;
  const env = {
    PATH: path,
    HOME: directory,
    KUBECONFIG: kubeconfig,
    SERVER: url,
    NODE_NO_WARNINGS: "1",
    NODE_COMPILE_CACHE: compiled,
  };
  const shell = (script: string, cwd: string): Promise<string> => runShell(script, cwd, env);
  await shell("kubectl create namespace shop", directory);
  return {
    run: (block) => shell(scriptOf(block), workingDirectory(directory, dataDir)),
    async close() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
      rmSync(directory, { recursive: true });
    },
  };
}

function urlOf(child: ReturnType<typeof spawn>): Promise<string> {
  let output = "";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece) => {
      output += piece;
      const url = /Serving (https:\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
  child.once("exit", () => reject(new Error(`the server ended: ${output}`)));
  return promise;
}

/** A new directory with the example files; `.coxswain` and `DATA_DIR` are the data directory of the server. */
function workingDirectory(parent: string, dataDir: string): string {
  const directory = mkdtempSync(join(parent, "block-"));
  for (const [name, source] of Object.entries(files)) cpSync(join(root, source), join(directory, name));
  writeFileSync(join(directory, "service.yaml"), service);
  for (const name of [".coxswain", "DATA_DIR"]) symlinkSync(dataDir, join(directory, name));
  return directory;
}

function scriptOf({ check, language, setup, code }: CodeBlock): string {
  if (check === "apply")
    return `${setup}\nkubectl apply --dry-run=server --validate=strict -f - <<'END'\n${code}\nEND\n`;
  const command = language === "console" ? code.slice("$ ".length, code.indexOf("\n")) : code;
  return `exec 3>&1 >&2\n${setup}\nexec >&3\n${command}`;
}

/** Without blocking the process, whose other tests have servers. */
function runShell(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { cwd, env, timeout: timeoutMs };
  const child = execFile("bash", ["-c", preamble + script], options, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`${script}\nfailed: ${error.message}: ${stdout}${stderr}`));
  });
  child.stdin?.end();
  return promise;
}

/** The expected output of a `console` block: a line `…` is for any lines, durations and addresses vary. */
export function expectedOutput({ code }: CodeBlock): RegExp {
  const lines = withoutVarying(code.slice(code.indexOf("\n") + 1)).split("\n");
  return new RegExp(
    `^${lines.map((line) => (line === "…" ? "[^]*" : line.replace(/[\^$.*+?()[\]{}|\\]/g, "\\$&"))).join("\n")}$`,
  );
}

/** Replaces durations and addresses of Services. */
export function withoutVarying(output: string): string {
  return output
    .replace(/\d+\.\d+ ms/g, "N ms")
    .replace(/10\.0\.0\.\d+/g, "10.0.0.N")
    .trim();
}

/** The configuration of a block in a file of its own, in which `/etc/coxswain` is its directory, and the issuer does not answer. */
export function writeConfiguration(directory: string, { code }: CodeBlock): string {
  const file = join(directory, "configuration.yaml");
  writeFileSync(file, code.replaceAll("/etc/coxswain", directory).replaceAll("//idp.example.com", "//127.0.0.1:1"));
  for (const [, name = ""] of code.matchAll(/\/etc\/coxswain\/(\S+\.kubeconfig)/g))
    writeFileSync(join(directory, name), webhookKubeconfig);
  return file;
}

const webhookKubeconfig = readFileSync(join(import.meta.dirname, "webhook.kubeconfig.yaml"), "utf8");
