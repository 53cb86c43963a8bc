/** `coxswain replay`: serves a recorded session. */
import { type Command, Option } from "commander";
import { checkCommandWords } from "../child/command-words.ts";
import { exitNotExecutable, exitNotFound, exitOwnFailure } from "../child/run-child.ts";
import { type ExitCodes, exitSignal } from "../exit-codes.ts";
import { addExamples, defineSubcommand } from "../subcommands.ts";
import type { ReplayCommandOptions } from "./replay.ts";

const exitDiffers = 1;

const exitCodes: ExitCodes = [
  [
    0,
    "the command succeeded, and its session is the recorded one; with --live: all objects of the recording were created",
  ],
  [
    exitDiffers,
    "the command succeeded, but its session differs from the recorded one; with --live: an object of the recording could not be created",
  ],
  [exitOwnFailure, "the command line is invalid, the recording could not be read, or the server could not start"],
  [exitNotExecutable, "the command could not be executed"],
  [exitNotFound, "the command was not found"],
  [`${exitSignal} + n`, "signal n ended the command"],
  ["any other", "the exit code of the command"],
];

/** The command `coxswain replay`. */
export const replayCommand = defineSubcommand({
  name: "coxswain replay",
  description:
    "Serves a session that `coxswain record` has recorded. Each request must be a recorded one, in the recorded order, and gets the recorded answer; other requests get an error that describes the difference. Runs a command with a kubeconfig for this server, or prints the path of the kubeconfig and serves until a signal. With --live, starts a server in memory instead, with the objects that existed when the recorded session began.",
  exitCodes,
  failureCode: exitOwnFailure,
  add(command, run) {
    addOptions(command).action((file: string, words: string[], options: ReplayCommandOptions) =>
      run(async (output, env, argv) => {
        checkCommandWords("coxswain replay", words, argv);
        const { code, isSame } =
          options.live === true
            ? await (await import("./replay-live.ts")).replayLive(file, words, output, env)
            : await (await import("./replay.ts")).replayFile({ file, words, options }, output, env);
        return code === 0 && !isSame ? exitDiffers : code;
      }),
    );
  },
});

function addOptions(command: Command): Command {
  addExamples(command, [
    "replay session.jsonl -- kubectl get pods",
    "replay session.jsonl",
    "replay --live session.jsonl -- go test ./...",
  ]);
  return command
    .usage("[options] <file> [-- <command> [arguments]]")
    .argument("<file>", "the recording")
    .argument("[command...]", "the command and its arguments, after --")
    .option("--patience <duration>", "how long a request waits for those that were recorded before it", "10s")
    .addOption(
      new Option("--live", "starts a server with the recorded objects, which answers any request").conflicts(
        "patience",
      ),
    );
}
