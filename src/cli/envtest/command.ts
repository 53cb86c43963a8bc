/**
 * `coxswain envtest`: creates the directory of binaries that controller-runtime's envtest needs,
 * with this server as kube-apiserver.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { enabledControllers } from "../../controllers/enabled.ts";
import { ownCommand } from "../../lib/processes/own-command.ts";
import type { ServerOptions } from "../../server/options.ts";
import type { ExitCodes } from "../exit-codes.ts";
import { stringSlice } from "../flags/flag-types.ts";
import { parseFlags } from "../flags/parse-flags.ts";
import { formatExamples, formatExitCodes } from "../help-text.ts";
import { type Output, reportError } from "../output.ts";
import type { Subcommand } from "../subcommands.ts";
import { answerHealth } from "./etcd.ts";
import { exitWithStarter } from "./starter.ts";

const exitInvalid = 1;
const exitCodes: ExitCodes = [
  [0, "the programs were created"],
  [exitInvalid, "the command line is invalid"],
];

const help = `Usage: coxswain envtest <directory> [flags of kube-apiserver]

Creates two programs in the directory, kube-apiserver and etcd, for tests that use controller-runtime's envtest:

  export KUBEBUILDER_ASSETS=<directory>

kube-apiserver runs this server with the flags, and with those that the test passes. It runs no controllers of
kube-controller-manager except those that --controllers enables, such as --controllers=namespace. It stores its objects
in the directory that envtest creates, and removes them when it ends; etcd only answers health checks. Both end when the
test process ends.

${formatExamples(["envtest bin", "envtest bin --controllers=namespace"], { isColored: false })}

${formatExitCodes(exitCodes, { isColored: false })}
`;

/** The command `coxswain envtest`, which passes flags of the server on. */
export const envtestCommand: Subcommand = {
  exitCodes,
  definition: () => new Command("coxswain envtest").argument("<directory>").argument("[flags...]"),
  run: (argv, output) => envtest(argv, output),
};

/**
 * @param argv the arguments after `envtest`
 * @returns the exit code; `envtest etcd` returns when a signal ends it, `envtest kube-apiserver`
 *   when the server has started
 */
async function envtest(argv: readonly string[], output: Output): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "--help" || first === "-h") {
    output.out(help);
    return 0;
  }
  if (first === "etcd" || first === "kube-apiserver") return run(first, rest, output.err);
  const problem =
    first === undefined || first.startsWith("-")
      ? "expected a directory, such as: coxswain envtest bin"
      : problemOf(rest);
  if (problem !== undefined) {
    await reportError(new Error(problem), output);
    output.err("Run coxswain envtest --help for its arguments.\n");
    return exitInvalid;
  }
  await createPrograms(resolve(first as string), rest, output.out);
  return 0;
}

/** Validates the flags that each start of the server will have. */
function problemOf(flags: readonly string[]): string | undefined {
  try {
    const line = parseFlags(flags);
    if (line.run === "print") return "expected flags of the server";
    enabledControllers(line.settings.server.controllers);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function createPrograms(directory: string, flags: readonly string[], out: Output["out"]): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const self = ownCommand().map(quoted).join(" ");
  const create = (name: string, defaults: readonly string[]): Promise<void> => {
    const words = [`exec ${self} envtest ${name} "$PPID"`, ...defaults.map(quoted), '"$@"'];
    return writeFileAtomically(`${directory}/${name}`, `#!/bin/sh\n${words.join(" ")}\n`, 0o755);
  };
  // envtest passes the URL of its etcd, which stores nothing here.
  await create("kube-apiserver", ["--storage=lmdb", "--controllers=", ...flags]);
  await create("etcd", []);
  out(`export KUBEBUILDER_ASSETS=${quoted(directory)}\n`);
}

/** Runs one of the programs. The first argument is the process that started it. */
async function run(
  program: "etcd" | "kube-apiserver",
  [parent = "", ...argv]: readonly string[],
  err: Output["err"],
): Promise<number> {
  if (!/^\d+$/.test(parent)) {
    err(`Usage: coxswain envtest ${program} <pid of the test process> [flags]\n`);
    return exitInvalid;
  }
  exitWithStarter(Number(parent), argv);
  if (program === "etcd") return etcd(argv, err);
  await serveForTests(argv);
  return 0;
}

/**
 * Serves until a signal or the end of the test process, and then removes the data directory if it
 * was created in --cert-dir. A data directory from --data-dir, or from an earlier start, is kept.
 */
async function serveForTests(argv: readonly string[]): Promise<void> {
  // envtest ends a start that takes too long, and then starts another server in the same directory.
  const endStart = (): never => process.exit(1);
  process.on("SIGTERM", endStart);
  const { serve } = await import("../serve.ts");
  await serve(argv, ({ server }) => removeAtExit(server));
  process.off("SIGTERM", endStart);
}

function removeAtExit({ certDir, dataDir }: Pick<ServerOptions, "certDir" | "dataDir">): void {
  if (certDir === undefined || dataDir !== join(certDir, "coxswain") || existsSync(dataDir)) return;
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 }));
}

/** Accepts etcd's flags and ignores all except --listen-client-urls. */
async function etcd(argv: readonly string[], err: Output["err"]): Promise<number> {
  const flag = "--listen-client-urls=";
  const urls = argv.filter((one) => one.startsWith(flag)).flatMap((one) => stringSlice(one.slice(flag.length)));
  if (urls.length === 0) {
    err(`Usage: coxswain envtest etcd ${flag}<urls>\n`);
    return exitInvalid;
  }
  await answerHealth(urls);
  return 0;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
