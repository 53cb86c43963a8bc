/** The options of subcommands that send requests to a server, and the client that they select. */
import type { Command } from "commander";
import { type Client, openClient } from "./client.ts";
import { findKubeconfig } from "./find-kubeconfig.ts";

/** The values of the options. */
export interface ServerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Adds `--kubeconfig` and `--context`. */
export function addServerOptions(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "the kubeconfig file; if unset, the files of KUBECONFIG, or ~/.kube/config")
    .option("--context <name>", "the context to use instead of the kubeconfig's current one");
}

/**
 * Opens a client, and closes it after its use.
 *
 * @param env the environment, for KUBECONFIG and for credential plugins
 * @throws Error if the kubeconfig is invalid
 */
export async function withClient<T>(
  { kubeconfig, context }: ServerOptions,
  env: NodeJS.ProcessEnv,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const environment = { env, stdinIsTerminal: process.stdin.isTTY === true, now: Date.now };
  const client = await openClient(await findKubeconfig(kubeconfig, env), { context, environment });
  try {
    return await use(client);
  } finally {
    client.close();
  }
}
