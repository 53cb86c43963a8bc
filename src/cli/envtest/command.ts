/**
 * `coxswain envtest`: creates the directory of binaries that controller-runtime's envtest needs,
 * with this server as kube-apiserver.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { enabledControllers } from "../../controllers/enabled.ts";
import { ownCommand } from "../../lib/processes/own-command.ts";
import type { ServerOptions } from "../../server/options.ts";
import { type ExitCodes, exitFailed } from "../exit-codes.ts";
import { FlagError } from "../flags/contract.ts";
import { stringSlice } from "../flags/flag-types.ts";
import { addServerFlags, serverFlags } from "../flags/parse-flags.ts";
import type { Output } from "../output.ts";
import { addExamples, defineSubcommand, type Run } from "../subcommands.ts";
import { answerHealth } from "./etcd.ts";
import { exitWithStarter } from "./starter.ts";

const exitCodes: ExitCodes = [
  [0, "the programs were created"],
  [exitFailed, "the command line is invalid, or a program could not be written"],
];

/** The command `coxswain envtest`, which passes flags of the server on. */
export const envtestCommand = defineSubcommand({
  name: "coxswain envtest",
  description: `Creates two programs in the directory, kube-apiserver and etcd, for tests that use controller-runtime's envtest:

  export KUBEBUILDER_ASSETS=<directory>

kube-apiserver runs this server with the flags, and with those that the test passes. It runs no controllers of kube-controller-manager except those that --controllers enables, such as --controllers=namespace. It stores its objects in the directory that envtest creates, and removes them when it ends; etcd only answers health checks. Both end when the test process ends.`,
  exitCodes,
  add(command, run) {
    const flags = serverFlags([]);
    addExamples(command, ["envtest bin", "envtest bin --controllers=namespace"]);
    addServerFlags(command, flags)
      .usage("[options] <directory> [flags of the server]")
      .argument("<directory>", "the directory of the programs, such as bin")
      .enablePositionalOptions()
      .helpCommand(false)
      .action((directory: string) =>
        run(async ({ out }) => {
          enabledControllers(flags.settings().server.controllers); // Reports unknown names.
          await createPrograms(resolve(directory), flags.words, out);
          return 0;
        }),
      );
    for (const program of ["etcd", "kube-apiserver"] as const) addProgram(program, command, run);
  },
});

/** What the created programs run. Their arguments are those that envtest passes. */
function addProgram(program: "etcd" | "kube-apiserver", command: Command, run: Run): void {
  command
    .command(program, { hidden: true })
    .argument("<pid>", "the process that started it")
    .argument("[flags...]", "those that envtest passes")
    .passThroughOptions()
    .action((pid: string, flags: readonly string[]) => run(() => runProgram(program, pid, flags)));
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

/**
 * Runs one of the programs.
 *
 * @returns the exit code; that of etcd when a signal ends it, that of kube-apiserver when the server has started
 * @throws FlagError
 */
async function runProgram(
  program: "etcd" | "kube-apiserver",
  parent: string,
  argv: readonly string[],
): Promise<number> {
  if (!/^\d+$/.test(parent)) throw new FlagError(`${JSON.stringify(parent)} is no process ID`);
  exitWithStarter(Number(parent), argv);
  await (program === "etcd" ? etcd(argv) : serveForTests(argv));
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

/** Accepts etcd's flags and ignores all except --listen-client-urls. @throws FlagError */
async function etcd(argv: readonly string[]): Promise<void> {
  const flag = "--listen-client-urls=";
  const urls = argv.filter((one) => one.startsWith(flag)).flatMap((one) => stringSlice(one.slice(flag.length)));
  if (urls.length === 0) throw new FlagError(`${flag}<urls> is missing`);
  await answerHealth(urls);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
