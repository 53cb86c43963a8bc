/** `coxswain admission`: explains what admission does to a request. */
import { type Command, Option } from "commander";
import { isObject } from "../../lib/json/values.ts";
import { readDocument } from "../cel/documents.ts";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import type { Output } from "../output.ts";
import { collect, type OutputFormat, outputOption, runSubcommands } from "../subcommands.ts";
import { explain, type Operation, operations } from "./explain.ts";
import { formatText } from "./format.ts";

const exitAllowed = 0;
const exitRejected = 1;

interface ExplainOptions extends ServerOptions {
  readonly filename: string;
  readonly operation: Operation;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly namespace?: string;
  readonly output: OutputFormat;
}

const group = {
  name: "coxswain admission",
  description: "Shows what admission does to requests on a running Coxswain server.",
  exitCodes: "0 allowed, 1 rejected, 2 the server could not be queried",
};

/**
 * Runs `coxswain admission`.
 *
 * @param argv the arguments after `admission`
 * @param env the environment, for KUBECONFIG and for credential plugins
 * @returns the exit code
 */
export async function admissionCommand(
  argv: readonly string[],
  output: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return runSubcommands(group, argv, output, (command, run) => {
    addExplain(command).action(async (options: ExplainOptions) => run(() => explainRequest(options, output, env)));
  });
}

function addExplain(command: Command): Command {
  const explaining = command
    .command("explain")
    .summary("lists what each admission plugin, webhook and policy does to a request")
    .description(
      "Sends one request as a dry run, and lists what each admission plugin, webhook and policy did to it: whether it matched, its patch, its verdict and its time. The server needs the flag --enable-admission-explain. You need the rights of the request itself; configurations and parameters that you may not get are only counted.",
    )
    .requiredOption("-f, --filename <file>", "the object, in YAML or JSON; - for the standard input")
    .addOption(new Option("--operation <operation>", "the request to explain").choices(operations).default("create"))
    .option("--as <user>", "the user to impersonate")
    .option("--as-group <group>", "a group to impersonate; may be repeated", collect)
    .option("-n, --namespace <namespace>", "the namespace, unless the object names one");
  return addServerOptions(explaining).addOption(outputOption());
}

async function explainRequest(options: ExplainOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const { as: user, asGroup: groups = [], operation } = options;
  if (user === undefined && groups.length > 0) throw new Error("--as-group needs --as");
  const object = readDocument(options.filename);
  if (!isObject(object)) throw new Error(`${options.filename} has no object`);
  return withClient(options, env, async (client) => {
    const namespace = options.namespace ?? client.namespace;
    const explanation = await explain(client, object, { operation, namespace, user, groups });
    output.out(options.output === "json" ? `${JSON.stringify(explanation, undefined, 2)}\n` : formatText(explanation));
    return explanation.response.status < 300 ? exitAllowed : exitRejected;
  });
}
