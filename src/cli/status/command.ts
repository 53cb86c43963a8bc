/** `coxswain status`: shows what a running server serves. */

import type { Command } from "commander";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import { exitFailed } from "../exit-codes.ts";
import { FlagError } from "../flags/contract.ts";
import type { Output } from "../output.ts";
import { addExamples, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";

const exitReady = 0;
const exitNotReady = 1;

interface StatusOptions extends ServerOptions {
  readonly dataDir?: string;
  readonly output: OutputFormat;
}

/** The command `coxswain status`. */
export const statusCommand = defineSubcommand({
  name: "coxswain status",
  description:
    "Shows what a running server serves: its version, uptime and readiness with the failing checks, its storage engine, its addresses, the servers over the same store and the holders of leases, its group versions, and the number of objects of each resource. Works with every Kubernetes API server. It shows what the user may read, and lists what the user may not.",
  exitCodes: [
    [exitReady, "the server is ready"],
    [exitNotReady, "the server is not ready"],
    [exitFailed, "the command line is invalid or the server could not be queried"],
  ],
  add(command, run) {
    addOptions(command).action((options: StatusOptions) => run((output, env) => showStatus(options, output, env)));
  },
});

function addOptions(command: Command): Command {
  addExamples(command, ["status", "status --data-dir .coxswain", "status --context staging -o json"]);
  return addServerOptions(command)
    .option("--data-dir <dir>", "the --data-dir of the server, whose kubeconfig is used")
    .addOption(outputOption());
}

async function showStatus(options: StatusOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const { readStatus } = await import("./read-status.ts");
  const { formatStatus } = await import("./format.ts");
  return withClient(serverOf(options), env, async (client) => {
    const status = await readStatus(client, Date.now());
    const isColored = output.outColors === true;
    output.out(
      options.output === "json" ? `${JSON.stringify(status, undefined, 2)}\n` : formatStatus(status, { isColored }),
    );
    return status.ready ? exitReady : exitNotReady;
  });
}

/** @throws FlagError */
function serverOf({ dataDir, kubeconfig, context }: StatusOptions): ServerOptions {
  if (dataDir === undefined) return { ...(kubeconfig && { kubeconfig }), ...(context && { context }) };
  if (kubeconfig !== undefined || context !== undefined)
    throw new FlagError("--data-dir cannot be combined with --kubeconfig or --context");
  return { kubeconfig: `${dataDir}/kubeconfig` };
}
