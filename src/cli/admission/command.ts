/** `coxswain admission`: explains what admission does to a request. */
import { Command, CommanderError, Option } from "commander";
import { isObject } from "../../lib/json/values.ts";
import { readDocument } from "../cel/documents.ts";
import { openClient } from "../client/client.ts";
import { findKubeconfig } from "../client/find-kubeconfig.ts";
import type { Output } from "../output.ts";
import { explain, type Operation, operations } from "./explain.ts";
import { formatText } from "./format.ts";

const exitAllowed = 0;
const exitRejected = 1;
/** The command line is invalid, or the server could not be queried. */
const exitFailed = 2;

interface ExplainOptions {
  readonly filename: string;
  readonly operation: Operation;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: "text" | "json";
}

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

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
  let code = exitAllowed;
  const command = new Command("coxswain admission")
    .description("Shows what admission does to requests on a running Coxswain server.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
  addExplain(command, async (options) => {
    code = await run(options, output, env);
  });
  command.addHelpText("after", "\nExit codes: 0 allowed, 1 rejected, 2 the server could not be queried.");
  try {
    await command.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitAllowed : exitFailed;
    output.err(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitFailed;
  }
  return code;
}

function addExplain(command: Command, action: (options: ExplainOptions) => Promise<void>): void {
  command
    .command("explain")
    .summary("lists what each admission plugin, webhook and policy does to a request")
    .description(
      "Sends one request as a dry run, and lists what each admission plugin, webhook and policy did to it: whether it matched, its patch, its verdict and its time. The server needs the flag --enable-admission-explain. You need the rights of the request itself; configurations and parameters that you may not get are only counted.",
    )
    .requiredOption("-f, --filename <file>", "the object, in YAML or JSON; - for the standard input")
    .addOption(new Option("--operation <operation>", "the request to explain").choices(operations).default("create"))
    .option("--as <user>", "the user to impersonate")
    .option("--as-group <group>", "a group to impersonate; may be repeated", collect)
    .option("-n, --namespace <namespace>", "the namespace, unless the object names one")
    .option("--kubeconfig <file>", "the kubeconfig file; if unset, the files of KUBECONFIG, or ~/.kube/config")
    .option("--context <name>", "the context to use instead of the kubeconfig's current one")
    .addOption(new Option("-o, --output <format>", "the output format").choices(["text", "json"]).default("text"))
    .action(action);
}

async function run(options: ExplainOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const { as: user, asGroup: groups = [], operation } = options;
  if (user === undefined && groups.length > 0) throw new Error("--as-group needs --as");
  const object = readDocument(options.filename);
  if (!isObject(object)) throw new Error(`${options.filename} has no object`);
  const environment = { env, stdinIsTerminal: process.stdin.isTTY === true, now: Date.now };
  const client = await openClient(await findKubeconfig(options.kubeconfig, env), {
    context: options.context,
    environment,
  });
  try {
    const namespace = options.namespace ?? client.namespace;
    const explanation = await explain(client, object, { operation, namespace, user, groups });
    output.out(options.output === "json" ? `${JSON.stringify(explanation, undefined, 2)}\n` : formatText(explanation));
    return explanation.response.status < 300 ? exitAllowed : exitRejected;
  } finally {
    client.close();
  }
}
