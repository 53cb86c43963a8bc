/** `coxswain envtest`: the directory that controller-runtime's envtest wants, with this server in it. */
import { mkdirSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { writeWhole } from "../../apimachinery/write-whole.ts";
import { stringSlice } from "../flag-values.ts";
import { answerHealth } from "./etcd.ts";

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const help = `Usage: coxswain envtest <directory>

Puts two programs into the directory, kube-apiserver and etcd, for tests that use controller-runtime's envtest:

  export KUBEBUILDER_ASSETS=<directory>

kube-apiserver is this server. It keeps its objects in the directory that envtest makes for it and removes at the end; etcd does
nothing but to answer that it is well.
`;

/** @param argv after `envtest` @returns the exit code, once the etcd that was asked for has ended */
export async function envtestCommand(argv: readonly string[], { out, err }: Output): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "etcd") return etcd(rest, err);
  if (first === undefined || first.startsWith("-") || rest.length > 0) {
    const asked = first === "--help" || first === "-h";
    (asked ? out : err)(asked ? help : `Error: it takes one directory\n${help}`);
    return asked ? 0 : 1;
  }
  const directory = resolve(first);
  mkdirSync(directory, { recursive: true });
  const self = [process.execPath, ...process.execArgv, realpathSync(process.argv[1] as string)].map(quoted).join(" ");
  await writeWhole(`${directory}/kube-apiserver`, `#!/bin/sh\nexec ${self} "$@"\n`, 0o755);
  await writeWhole(`${directory}/etcd`, `#!/bin/sh\nexec ${self} envtest etcd "$@"\n`, 0o755);
  out(`export KUBEBUILDER_ASSETS=${quoted(directory)}\n`);
  return 0;
}

/** Flags of etcd's; all but one are nothing to it. */
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
