/** `coxswain test`: a server for the tests of any language. */
import { constants } from "node:os";
import { type Command, Option } from "commander";
import { checkCommandWords } from "../child/command-words.ts";
import { exitNotExecutable, exitNotFound, exitOwnFailure } from "../child/run-child.ts";
import { type ExitCodes, exitSignal } from "../exit-codes.ts";
import { FlagError, type Settings } from "../flags/contract.ts";
import { addServerFlags } from "../flags/parse-flags.ts";
import type { Output } from "../output.ts";
import { addExamples, defineSubcommand } from "../subcommands.ts";
import { testServerFlags, testSettings } from "./settings.ts";

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

/** When the timeline is printed: the default is `on-failure` of the command. */
const timelineModes = ["on-failure", "always", "never"] as const;

interface TestOptions {
  readonly kubernetesVersion?: string;
  readonly timeline?: (typeof timelineModes)[number];
  readonly untilStdinCloses?: true;
}

/** What the command line asks for. */
interface TestRun extends TestOptions {
  readonly settings: Settings;
  readonly words: readonly string[];
}

/** The command `coxswain test`, which passes flags on to the server. */
export const testCommand = defineSubcommand({
  name: "coxswain test",
  description: `Starts a server in memory, on a free port of 127.0.0.1, runs the command, and stops the server. The command has two environment variables: KUBECONFIG, the path of a file whose user is in system:masters, and COXSWAIN_URL. SIGTERM, SIGHUP and SIGINT are passed on to the command. The file is removed at the end. Clients of that user can control the server by paths under /testing/.

If the command fails, the end of the timeline is printed to standard error: the requests of all clients, their results, and what they changed.`,
  exitCodes,
  failureCode: exitOwnFailure,
  add(command, run) {
    const flags = testServerFlags();
    addServerFlags(addOptions(command), flags).action((words: string[], options: TestOptions) =>
      run(async (output, env, argv) => {
        checkWords(words, options, argv);
        return runTest({ ...options, words, settings: testSettings(flags, options) }, output, env);
      }),
    );
  },
});

function addOptions(command: Command): Command {
  addExamples(command, [
    "test -- go test ./...",
    "test --kubernetes-version=1.34 -- pytest",
    "test --until-stdin-closes",
  ]);
  return command
    .usage("[options] [flags of the server] -- <command> [arguments]")
    .argument("[command...]", "the command and its arguments, after --")
    .passThroughOptions()
    .option(
      "--kubernetes-version <version>",
      "the release of Kubernetes to emulate, such as 1.34: its resources, feature gates and defaults",
    )
    .addOption(
      new Option("--timeline <when>", "when to print the timeline; on-failure if unset").choices(timelineModes),
    )
    .option(
      "--until-stdin-closes",
      'prints {"url": …, "kubeconfig": …, "pid": …} in one line when the server is ready, and serves until standard input closes: for libraries that start a server for tests',
    );
}

/** @throws FlagError */
function checkWords(
  words: readonly string[],
  { untilStdinCloses, timeline }: TestOptions,
  argv: readonly string[],
): void {
  if (untilStdinCloses) {
    if (words.length > 0) throw new FlagError("--until-stdin-closes runs no command");
    if (timeline !== undefined) throw new FlagError("--until-stdin-closes prints no timeline");
    return;
  }
  const own = ["coxswain", "test", ...argv.filter((word) => word !== "--")];
  if (words.length === 0) throw new FlagError(`a command is missing: ${[...own, "--"].join(" ")} npm test`);
  checkCommandWords("coxswain test", words, argv);
}

async function runTest(
  { settings, words, untilStdinCloses, timeline: when = "on-failure" }: TestRun,
  { out, err }: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  for (const warning of settings.warnings) err(`${warning}\n`);
  const { openCommandServer } = await import("./open-server.ts");
  const server = await openCommandServer(settings, err);
  try {
    const { url, kubeconfig } = server;
    if (!untilStdinCloses) {
      const { runChild } = await import("../child/run-child.ts");
      const code = await runChild(
        words as [string, ...string[]],
        { ...env, KUBECONFIG: kubeconfig, COXSWAIN_URL: url },
        err,
      );
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
