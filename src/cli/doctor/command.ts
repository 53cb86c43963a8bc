/** `coxswain doctor`: checks what a server and its clients need. */
import { type Command, InvalidArgumentError } from "commander";
import { printable } from "../../lib/json/printable.ts";
import { addServerOptions } from "../client/with-client.ts";
import { colored, type TextFormat } from "../colors.ts";
import { exitFailed } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { addExamples, collect, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";
import type { DoctorOptions, Finding } from "./contract.ts";

const exitHealthy = 0;
const exitProblem = 1;

type CommandOptions = DoctorOptions & { readonly output: OutputFormat };

/** The command `coxswain doctor`. */
export const doctorCommand = defineSubcommand({
  name: "coxswain doctor",
  description:
    "Checks what a server and its clients need, and says what to do: the runtime, the port, the data directory with its modes and its disk, the clock, the members of etcd, the kubeconfig and its server. It changes nothing, and listens on the port for a moment.",
  exitCodes: [
    [exitHealthy, "no problem; there may be warnings"],
    [exitProblem, "a problem"],
    [exitFailed, "the command line is invalid"],
  ],
  add(command, run) {
    addOptions(command).action((options: CommandOptions) => run((output, env) => diagnose(options, output, env)));
  },
});

function addOptions(command: Command): Command {
  addExamples(command, [
    "doctor",
    "doctor --data-dir /var/lib/coxswain --secure-port 443",
    "doctor --etcd-servers https://10.0.0.11:2379 --etcd-cafile etcd-ca.crt -o json",
  ]);
  return addServerOptions(command)
    .option("--data-dir <dir>", "the --data-dir of the server", ".coxswain")
    .option("--bind-address <address>", "that of the server", "127.0.0.1")
    .option("--secure-port <port>", "that of the server", portOf, 6443)
    .option("--etcd-servers <urls>", "the members of etcd, separated by commas; may be repeated", collectUrls, [])
    .option("--etcd-cafile <file>", "PEM file with the authorities of etcd")
    .option("--etcd-certfile <file>", "PEM file with the client certificate for etcd")
    .option("--etcd-keyfile <file>", "PEM file with the key of --etcd-certfile")
    .addOption(outputOption());
}

async function diagnose(options: CommandOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const { runChecks } = await import("./run-checks.ts");
  const { openFilesMax } = await import("./check-process.ts");
  const filesMax = openFilesMax();
  const surroundings = { env, now: Date.now, versions: process.versions, ...(filesMax !== undefined && { filesMax }) };
  const findings = await runChecks(options, surroundings);
  const isColored = output.outColors === true;
  output.out(
    options.output === "json" ? `${JSON.stringify(findings, undefined, 2)}\n` : formatFindings(findings, { isColored }),
  );
  return findings.some(({ status }) => status === "problem") ? exitProblem : exitHealthy;
}

/** @throws InvalidArgumentError */
function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError("A port is a number up to 65535.");
  return port;
}

const collectUrls = (text: string, before: readonly string[] = []): string[] =>
  text.split(",").reduce((all, url) => (url === "" ? all : collect(url, all)), [...before]);

const formats: Readonly<Record<Finding["status"], TextFormat>> = { ok: "green", warning: "yellow", problem: "red" };

/** A line for each finding, and one below it with what to do. */
function formatFindings(findings: readonly Finding[], { isColored }: { readonly isColored: boolean }): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .flatMap(({ check, status, message, advice }) => [
      `${colored(status.padEnd(8), formats[status], isColored)} ${printable(check).padEnd(width)}  ${printable(message)}`,
      ...(advice === undefined ? [] : [`${" ".repeat(9 + width)}  → ${printable(advice)}`]),
    ])
    .map((line) => `${line}\n`)
    .join("");
}
