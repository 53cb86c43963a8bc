/** Builds published policy engines, installs their manifests, and runs them outside of a cluster. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { decodeYaml } from "../../../src/lib/yaml/decode.ts";
import { skipWithout } from "../../support/needs.ts";
import { created, outcome, type Reviewed } from "../../support/policy-engine.ts";
import type { Answer, RawClient, RawRequest } from "../../support/raw-client.ts";
import { eventually as untilPasses } from "../../support/until.ts";

/** Why the engines cannot be built; undefined if they can. */
export const missing: string | undefined = skipWithout("full", "go") || undefined;

const goEnvironment = { ...process.env, GOFLAGS: "-buildvcs=false" };

/** Downloads a module. @returns its directory */
export function downloadModule(module: string): string {
  const env = { ...goEnvironment, GOFLAGS: "-mod=mod" };
  return JSON.parse(execFileSync("go", ["mod", "download", "-json", module], { env, encoding: "utf8" })).Dir;
}

/** Builds a command of a published module into a directory. */
export function installCommand(command: string, directory: string): void {
  execFileSync("go", ["install", "-p", "2", command], {
    env: { ...goEnvironment, GOBIN: directory },
    stdio: "inherit",
  });
}

/** Builds a command in the directory of its module, as `go install` rejects modules with replacements. */
export function buildCommand(directory: string, command: string, program: string): void {
  execFileSync("go", ["build", "-p", "2", "-o", program, command], {
    cwd: directory,
    env: goEnvironment,
    stdio: "inherit",
  });
}

/** Builds the test program of a directory. */
export function buildTest(directory: string, program: string): void {
  execFileSync("go", ["test", "-c", "-p", "2", "-o", program, "."], {
    cwd: directory,
    env: goEnvironment,
    stdio: "inherit",
  });
}

const paths: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ConfigMap: "/api/v1/namespaces/NAMESPACE/configmaps",
  Secret: "/api/v1/namespaces/NAMESPACE/secrets",
  CustomResourceDefinition: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  MutatingWebhookConfiguration: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  ValidatingWebhookConfiguration: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
};

/** Creates the objects of a manifest whose kinds are in the table, after a change. */
export async function installManifest(
  client: RawClient,
  file: string,
  change: (object: Reviewed) => void = () => {},
): Promise<void> {
  for (const text of readFileSync(file, "utf8").split(/^---$/m)) {
    const object = decodeYaml(Buffer.from(text)).value as Reviewed;
    const path = paths[object?.kind ?? ""];
    if (path === undefined) continue;
    change(object);
    await created(client, path.replace("NAMESPACE", object.metadata.namespace), object);
  }
}

/** An engine that runs. */
export interface RunningEngine {
  readonly process: ChildProcess;
  /** Ends it by a signal, and waits for its end. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/** Starts an engine; its output goes to a file. */
export function startEngine(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  log: string,
): RunningEngine {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  const output = createWriteStream(log, { flags: "a" });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  return {
    process: child,
    async stop(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "close");
    },
  };
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Repeats a request until its outcome matches. @returns the last answer */
export async function eventually(client: RawClient, request: RawRequest, expected: string | RegExp): Promise<Answer> {
  let text = "";
  return untilPasses(
    () => `${request.method ?? "GET"} ${request.path}: ${text}`,
    async () => {
      const answer = await client.send(request);
      text = outcome(answer);
      return (typeof expected === "string" ? text === expected : expected.test(text)) && answer;
    },
  );
}
