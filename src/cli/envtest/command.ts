/**
 * `coxswain envtest`: creates the directory of binaries that controller-runtime's envtest needs,
 * with this server as kube-apiserver.
 */
import { mkdirSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { stringSlice } from "../flag-values.ts";
import type { Output } from "../output.ts";
import { answerHealth } from "./etcd.ts";

const help = `Usage: coxswain envtest <directory>

Creates two programs in the directory, kube-apiserver and etcd, for tests that use controller-runtime's envtest:

  export KUBEBUILDER_ASSETS=<directory>

kube-apiserver runs this server. It stores its objects in the directory that envtest creates and removes at the end; etcd
only answers health checks.
`;

/**
 * Runs `coxswain envtest`.
 *
 * @param argv the arguments after `envtest`
 * @returns the exit code; `envtest etcd` returns when a signal ends it
 */
export async function envtestCommand(argv: readonly string[], { out, err }: Output): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "etcd") return etcd(rest, err);
  if (first === undefined || first.startsWith("-") || rest.length > 0) {
    const isHelp = first === "--help" || first === "-h";
    (isHelp ? out : err)(isHelp ? help : `Error: expected one directory\n${help}`);
    return isHelp ? 0 : 1;
  }
  const directory = resolve(first);
  mkdirSync(directory, { recursive: true });
  const self = [process.execPath, ...process.execArgv, realpathSync(process.argv[1] as string)].map(quoted).join(" ");
  await writeFileAtomically(`${directory}/kube-apiserver`, `#!/bin/sh\nexec ${self} "$@"\n`, 0o755);
  await writeFileAtomically(`${directory}/etcd`, `#!/bin/sh\nexec ${self} envtest etcd "$@"\n`, 0o755);
  out(`export KUBEBUILDER_ASSETS=${quoted(directory)}\n`);
  return 0;
}

/** Accepts etcd's flags and ignores all except --listen-client-urls. */
async function etcd(argv: readonly string[], err: Output["err"]): Promise<number> {
  const flag = "--listen-client-urls=";
  const urls = argv.filter((one) => one.startsWith(flag)).flatMap((one) => stringSlice(one.slice(flag.length)));
  if (urls.length === 0) {
    err(`Usage: coxswain envtest etcd ${flag}<urls>\n`);
    return 1;
  }
  await answerHealth(urls);
  return 0;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
