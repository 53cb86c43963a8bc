/** `coxswain kubeconfig`: issues client certificates for test users. */
import type { Command } from "commander";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, collect, defineSubcommand } from "../subcommands.ts";
import type { IssueOptions } from "./issue.ts";

/** The command `coxswain kubeconfig`. */
export const kubeconfigCommand = defineSubcommand({
  name: "coxswain kubeconfig",
  description:
    "Issues a client certificate for a user, and prints a kubeconfig with it, or writes it to a file that only its owner can read. The certificate is signed by the client authority in the --data-dir of a server, which has started before and may be running, so you need to be able to read its ca.key. The server does not know of the certificate: until it expires, it can only be revoked by replacing the authority.",
  exitCodes: [
    [0, "printed or written"],
    [exitFailed, "the command line is invalid, a file could not be read or written, or a file exists"],
  ],
  add(command, run) {
    addOptions(command).action((options: IssueOptions) =>
      run(async (output) => {
        const { issueKubeconfig } = await import("./issue.ts");
        await issueKubeconfig(options, output);
        return 0;
      }),
    );
  },
});

function addOptions(command: Command): Command {
  addExamples(command, [
    "kubeconfig --user ann --group dev --write ann.kubeconfig",
    "kubeconfig --user ci --expires 1h --data-dir /var/lib/coxswain > ci.kubeconfig",
    "kubeconfig --user ann --client-ca-file pki/ca.crt --client-ca-key pki/ca.key",
  ]);
  return command
    .requiredOption("--user <name>", "the name of the user")
    .option("--group <name>", "a group of the user; may be repeated", collect, [])
    .option("--expires <duration>", "how long the certificate is valid, such as 8h or 30m", "24h")
    .option("--data-dir <dir>", "the --data-dir of the server", ".coxswain")
    .option("--server <url>", "the URL of the server; if unset, that of its last start")
    .option("--client-ca-file <file>", "PEM file with the authority that signs, such as the server's --client-ca-file")
    .option("--client-ca-key <file>", "PEM file with the private key of --client-ca-file")
    .option("--write <file>", "writes the kubeconfig to this file, which must not exist")
    .option("--force", "replaces the file of --write");
}
