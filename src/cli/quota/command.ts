/** `coxswain quota`: explains the usage of resource quotas. */
import type { Command } from "commander";
import { listAll } from "../client/list-all.ts";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import type { Output } from "../output.ts";
import { type OutputFormat, outputOption, runSubcommands } from "../subcommands.ts";
import { type ExplainedQuota, explainQuota } from "./explain.ts";
import { formatText } from "./format.ts";
import { openMeasure } from "./measure.ts";

const exitCurrent = 0;
const exitOutdated = 1;

interface ExplainOptions extends ServerOptions {
  readonly namespace?: string;
  readonly quota?: string;
  readonly output: OutputFormat;
}

const group = {
  name: "coxswain quota",
  description: "Shows what resource quotas count.",
  exitCodes: "0 the status of all quotas is up to date, 1 that of a quota is not, 2 the server could not be queried",
};

/**
 * Runs `coxswain quota`.
 *
 * @param argv the arguments after `quota`
 * @param env the environment, for KUBECONFIG and for credential plugins
 * @returns the exit code
 */
export async function quotaCommand(argv: readonly string[], output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  return runSubcommands(group, argv, output, (command, run) => {
    addExplain(command).action(async (options: ExplainOptions) => run(() => explain(options, output, env)));
  });
}

function addExplain(command: Command): Command {
  const explaining = command
    .command("explain")
    .summary("lists which objects use how much of a quota")
    .description(
      "Reads the quotas of a namespace and the objects that they count, and prints for each resource the limit, what the status says is used, what is left, and what each object uses. Works with every Kubernetes API server. You need the rights to list the counted objects.",
    )
    .option("-n, --namespace <namespace>", "the namespace; if unset, that of the context, or default")
    .option("--quota <name>", "only this quota");
  return addServerOptions(explaining).addOption(outputOption());
}

async function explain(options: ExplainOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  return withClient(options, env, async (client) => {
    const namespace = options.namespace ?? client.namespace;
    const all = await listAll(client, `/api/v1/namespaces/${encodeURIComponent(namespace)}/resourcequotas`);
    const quotas = all.filter(({ metadata }) => options.quota === undefined || metadata.name === options.quota);
    if (options.quota !== undefined && quotas.length === 0)
      throw new Error(`namespace ${namespace} has no resource quota ${options.quota}`);
    const measure = openMeasure(client, namespace);
    const explained: ExplainedQuota[] = [];
    for (const quota of quotas) explained.push(await explainQuota(quota, measure));
    const json = (): string => `${JSON.stringify(explained, undefined, 2)}\n`;
    output.out(options.output === "json" ? json() : formatText(namespace, explained));
    return explained.every(({ isCurrent }) => isCurrent) ? exitCurrent : exitOutdated;
  });
}
