/** `coxswain quota`: explains the usage of resource quotas. */
import type { Command } from "commander";
import { listAll } from "../client/list-all.ts";
import { addNamespaceOption, type NamespaceOption } from "../client/request-options.ts";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import { exitFailed } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { addExamples, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";
import { type ExplainedQuota, explainQuota } from "./explain.ts";
import { formatText } from "./format.ts";
import { openMeasure } from "./measure.ts";

const exitCurrent = 0;
const exitOutdated = 1;

interface ExplainOptions extends ServerOptions, NamespaceOption {
  readonly quota?: string;
  readonly output: OutputFormat;
}

/** The command `coxswain quota`. */
export const quotaCommand = defineSubcommand({
  name: "coxswain quota",
  description: "Shows what resource quotas count.",
  exitCodes: [
    [exitCurrent, "the status of all quotas is up to date"],
    [exitOutdated, "that of a quota is not"],
    [exitFailed, "the server could not be queried"],
  ],
  add(command, run) {
    addExplain(command).action(async (options: ExplainOptions) => run((output, env) => explain(options, output, env)));
  },
});

function addExplain(command: Command): Command {
  const explaining = command
    .command("explain")
    .summary("lists which objects use how much of a quota")
    .description(
      "Reads the quotas of a namespace and the objects that they count, and prints for each resource the limit, what the status says is used, what is left, and what each object uses. Works with every Kubernetes API server. You need the rights to list the counted objects.",
    )
    .option("--quota <name>", "only this quota");
  addNamespaceOption(explaining);
  addExamples(explaining, ["quota explain -n shop", "quota explain -n shop --quota compute -o json"]);
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
