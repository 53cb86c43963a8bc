/** `coxswain test`: a server for the tests of any language. */
import { constants } from "node:os";
import { Command, Option } from "commander";
import { exitNotExecutable, exitNotFound, exitOwnFailure } from "../child/run-child.ts";
import { type ExitCodes, exitSignal } from "../exit-codes.ts";
import { FlagError } from "../flags/contract.ts";
import { serveDefinition } from "../flags/parse-flags.ts";
import { formatExamples, formatExitCodes } from "../help-text.ts";
import { type Output, reportError } from "../output.ts";
import type { Subcommand } from "../subcommands.ts";
import {
  kubernetesVersion,
  parseTestCommandLine,
  type TestCommandLine,
  timelineModes,
  untilStdinCloses,
} from "./command-line.ts";

const exitCodes: ExitCodes = [
  [0, "the command succeeded, or standard input closed"],
  [exitOwnFailure, "the command line is invalid, or the server could not start"],
  [exitNotExecutable, "the command could not be executed"],
  [exitNotFound, "the command was not found"],
  [`${exitSignal} + n`, "signal n ended the command"],
  ["any other", "the exit code of the command"],
];

/** Of a printed timeline. */
const timelineLinesMax = 500;

const help = `Usage: coxswain test [flags of the server] -- <command> [arguments]
       coxswain test [flags of the server] ${untilStdinCloses}

Starts a server in memory, on a free port of 127.0.0.1, runs the command, and stops the server. The command has two
environment variables: KUBECONFIG, the path of a file whose user is in system:masters, and COXSWAIN_URL. SIGTERM, SIGHUP
and SIGINT are passed on to the command. The file is removed at the end. Clients of that user can control the server by
paths under /testing/.

If the command fails, the end of the timeline is printed to standard error: the requests of all clients, their results,
and what they changed.

Options:
  --kubernetes-version=<version>
                        the release of Kubernetes to emulate, such as 1.34: its resources, feature gates and defaults
  --timeline=<when>     when to print the timeline: on-failure (default), always or never
  ${untilStdinCloses}  prints {"url": …, "kubeconfig": …, "pid": …} in one line when the server is ready, and serves
                        until standard input closes: for libraries that start a server for tests

${formatExamples(["test -- go test ./...", "test --kubernetes-version=1.34 -- pytest", `test ${untilStdinCloses}`], { isColored: false })}

${formatExitCodes(exitCodes, { isColored: false })}
`;

/** The command `coxswain test`, which passes flags on to the server. */
export const testCommand: Subcommand = { exitCodes, definition, run };

/** Own options, and the flags of the server. */
function definition(): Command {
  const command = new Command("coxswain test").argument("[command...]");
  command.addOption(new Option(`${kubernetesVersion} <version>`, "the release of Kubernetes to emulate"));
  command.addOption(new Option("--timeline <when>", "when to print the timeline").choices(timelineModes));
  command.addOption(new Option(untilStdinCloses, "serves until standard input closes"));
  for (const option of serveDefinition().options) command.addOption(option);
  return command;
}

async function run(argv: readonly string[], output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    return await runTest(parseTestCommandLine(argv), output, env);
  } catch (error) {
    await reportError(error, output);
    if (error instanceof FlagError) output.err("Run coxswain test --help for its options.\n");
    return exitOwnFailure;
  }
}

async function runTest(line: TestCommandLine, { out, err }: Output, env: NodeJS.ProcessEnv): Promise<number> {
  if (line.run === "help") {
    out(help);
    return 0;
  }
  for (const warning of line.settings.warnings) err(`${warning}\n`);
  const { openCommandServer } = await import("./open-server.ts");
  const server = await openCommandServer(line.settings, err);
  try {
    const { url, kubeconfig } = server;
    if (line.run === "command") {
      const { runChild } = await import("../child/run-child.ts");
      const code = await runChild(line.command, { ...env, KUBECONFIG: kubeconfig, COXSWAIN_URL: url }, err);
      const { timeline: when } = line;
      if (when === "always" || (when === "on-failure" && code !== 0)) err(formatTimeline(server.timeline()));
      return code;
    }
    const closed = stdinClosed(); // First: the reader of the line may send a signal at once.
    out(`${JSON.stringify({ url, kubeconfig, pid: process.pid })}\n`);
    await closed;
    return 0;
  } finally {
    await server.close();
  }
}

/**
 * Resolves when standard input ends, or on SIGTERM; a second SIGTERM exits at once. The operating
 * system closes the pipe when the process at its other end is gone, however it ended. SIGINT counts on
 * a terminal alone: otherwise the key that stops tests, which sends it to this process, too, would end
 * the server that they need to clean up.
 */
async function stdinClosed(): Promise<void> {
  const { stdin } = process;
  await new Promise<void>((resolve) => {
    let isEnding = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (signal === "SIGINT" && !stdin.isTTY) return;
      if (isEnding) process.exit(exitSignal + constants.signals[signal]);
      isEnding = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    stdin.once("end", resolve);
    stdin.once("error", () => resolve());
    stdin.resume();
  });
  stdin.destroy();
}

/** The last lines of a timeline, below a heading. */
function formatTimeline(timeline: string): string {
  if (timeline === "") return "";
  const lines = timeline.trimEnd().split("\n");
  const left = Math.max(0, lines.length - timelineLinesMax);
  const note = left === 0 ? "" : ` (without the first ${left} lines)`;
  return `\nTimeline of the server${note}:\n${lines.slice(left).join("\n")}\n`;
}
