/** `coxswain record`: records the session of a command with a cluster. */
import type { Command } from "commander";
import { checkCommandWords } from "../child/command-words.ts";
import { exitNotExecutable, exitNotFound, exitOwnFailure } from "../child/run-child.ts";
import { addServerOptions } from "../client/with-client.ts";
import { type ExitCodes, exitSignal } from "../exit-codes.ts";
import { addExamples, defineSubcommand } from "../subcommands.ts";
import type { RecordOptions } from "./record.ts";

const exitCodes: ExitCodes = [
  [0, "the command succeeded, and its session was recorded"],
  [exitOwnFailure, "the command line is invalid, or the session could not be recorded"],
  [exitNotExecutable, "the command could not be executed"],
  [exitNotFound, "the command was not found"],
  [`${exitSignal} + n`, "signal n ended the command"],
  ["any other", "the exit code of the command"],
];

/** The command `coxswain record`. */
export const recordCommand = defineSubcommand({
  name: "coxswain record",
  description:
    "Runs a command with a kubeconfig for a proxy in this process, which forwards the command's requests to the cluster of --kubeconfig, with the credentials of its user, and records the session in a file that only its owner can read. The data of Secrets, tokens, credentials and last-applied annotations are replaced by placeholders. `coxswain replay` serves the recording.",
  exitCodes,
  failureCode: exitOwnFailure,
  add(command, run) {
    addOptions(command).action((words: string[], options: RecordOptions) =>
      run(async (output, env, argv) => {
        checkCommandWords("coxswain record", words, argv);
        const { recordCommandLine } = await import("./record.ts");
        return recordCommandLine(words, options, output, env);
      }),
    );
  },
});

function addOptions(command: Command): Command {
  addExamples(command, [
    "record --to session.jsonl -- kubectl get pods",
    "record --kubeconfig staging.kubeconfig --to session.jsonl -- go test ./...",
  ]);
  return addServerOptions(command.usage("[options] -- <command> [arguments]").passThroughOptions())
    .argument("<command...>", "the command and its arguments, after --")
    .requiredOption("--to <file>", "writes the recording to this file, which must not exist")
    .option("--force", "replaces the file of --to")
    .option(
      "--keep-last-applied",
      "keeps the annotations of kubectl apply, except those of Secrets: they contain the objects as they were applied",
    );
}
