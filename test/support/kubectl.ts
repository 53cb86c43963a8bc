/** Runs kubectl: the one on the PATH, and every `kubectl.1.NN` next to it. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * @returns the oldest and the newest available version, all with COXSWAIN_TEST_FULL=1; none if
 *   kubectl is not installed
 */
export function kubectls(): string[] {
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((directory) => join(directory, "kubectl"))
    .find((file) => existsSync(file));
  if (onPath === undefined) return [];
  const file = realpathSync(onPath);
  const siblings = readdirSync(dirname(file))
    .filter((name) => /^kubectl\.1\.\d+$/.test(name))
    .sort();
  const chosen =
    process.env.COXSWAIN_TEST_FULL === "1"
      ? siblings
      : [siblings[0], siblings.at(-1)].filter((name) => name !== undefined);
  return chosen.length === 0 ? [file] : [...new Set(chosen)].map((name) => join(dirname(file), name));
}

/** Limit of the output, whose longest is an OpenAPI document. */
const outputBytesMax = 16 * 1024 * 1024;

export interface KubectlRun {
  readonly code: number;
  /** The output, errors last, without the newline at the end. */
  readonly output: string;
}

/** @param directory working directory and home */
export function runKubectl(
  kubectl: string,
  args: readonly string[],
  {
    directory,
    kubeconfigPath,
    environment = {},
  }: { directory: string; kubeconfigPath: string; environment?: Readonly<Record<string, string>> },
): Promise<KubectlRun> {
  const env = { PATH: process.env.PATH, HOME: directory, KUBECONFIG: kubeconfigPath, ...environment };
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
