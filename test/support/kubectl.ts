/** Runs kubectl: the one on the PATH, and every `kubectl.1.NN` next to it. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** @returns the newest available version, all with COXSWAIN_TEST_FULL=1; none if kubectl is not installed */
export function kubectls(): string[] {
  const all = allKubectls();
  return process.env.COXSWAIN_TEST_FULL === "1" ? all : all.slice(-1);
}

/** @returns the oldest available version, unless {@link kubectls} has it */
export function oldestKubectl(): string | undefined {
  const [oldest] = allKubectls();
  return oldest === undefined || kubectls().includes(oldest) ? undefined : oldest;
}

/** @returns all available versions, the oldest first */
function allKubectls(): string[] {
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((directory) => join(directory, "kubectl"))
    .find((file) => existsSync(file));
  if (onPath === undefined) return [];
  const file = realpathSync(onPath);
  const siblings = readdirSync(dirname(file))
    .filter((name) => /^kubectl\.1\.\d+$/.test(name))
    .sort();
  return siblings.length === 0 ? [file] : siblings.map((name) => join(dirname(file), name));
}

/** Limit of the output, whose longest is an OpenAPI document. */
const outputBytesMax = 16 * 1024 * 1024;

export interface KubectlRun {
  readonly code: number;
  /** The output, errors last, without the newline at the end. */
  readonly output: string;
}

/** A process ends before a collection of garbage is worth its time. */
const withoutCollector = { GOGC: "off", GOMEMLIMIT: "512MiB" };

/** @param directory working directory, and home unless the environment has another */
export function runKubectl(
  kubectl: string,
  args: readonly string[],
  {
    directory,
    kubeconfigPath,
    environment = {},
  }: { directory: string; kubeconfigPath: string; environment?: Readonly<Record<string, string>> },
): Promise<KubectlRun> {
  const { PATH } = process.env;
  const env = { ...withoutCollector, PATH, HOME: directory, KUBECONFIG: kubeconfigPath, ...environment };
  return new Promise((resolve) => {
    execFile(
      kubectl,
      args,
      { cwd: directory, env, timeout: 60_000, maxBuffer: outputBytesMax },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, output: (stdout + stderr).trimEnd() });
      },
    );
  });
}
