/** `coxswain admission`: explains what admission does to a request. */
import { type Command, Option } from "commander";
import { isObject } from "../../lib/json/values.ts";
import { readDocument } from "../cel/documents.ts";
import {
  addNamespaceOption,
  addUserOptions,
  type NamespaceOption,
  requestedUser,
  type UserOptions,
} from "../client/request-options.ts";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import { exitFailed } from "../exit-codes.ts";
import type { Output } from "../output.ts";
import { addExamples, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";
import { explain, type Operation, operations } from "./explain.ts";
import { formatText } from "./format.ts";

const exitAllowed = 0;
const exitRejected = 1;

interface ExplainOptions extends ServerOptions, UserOptions, NamespaceOption {
  readonly filename: string;
  readonly operation: Operation;
  readonly all?: true;
  readonly output: OutputFormat;
}

/** The command `coxswain admission`. */
export const admissionCommand = defineSubcommand({
  name: "coxswain admission",
  description: "Shows what admission does to requests on a running Coxswain server.",
  exitCodes: [
    [exitAllowed, "allowed"],
    [exitRejected, "rejected"],
    [exitFailed, "the server could not be queried"],
  ],
  add(command, run) {
    addExplain(command).action(async (options: ExplainOptions) =>
      run((output, env) => explainRequest(options, output, env)),
    );
  },
});

function addExplain(command: Command): Command {
  const explaining = command
    .command("explain")
    .summary("lists what each admission plugin, webhook and policy does to a request")
    .description(
      "Sends one request as a dry run, and lists what each admission plugin, webhook and policy did to it: whether it matched, its patch, its verdict and its time. Those that changed nothing are only counted. The server needs the flag --enable-admission-explain. You need the rights of the request itself; configurations and parameters that you may not get are only counted.",
    )
    .requiredOption("-f, --filename <file>", "the object, in YAML or JSON; - for the standard input")
    .addOption(new Option("--operation <operation>", "the request to explain").choices(operations).default("create"))
    .option("--all", "lists also the plugins that changed nothing, and why webhooks and policies were skipped");
  addUserOptions(explaining, {
    user: "the user to impersonate",
    group: "a group to impersonate; may be repeated",
  });
  addNamespaceOption(explaining, "the namespace, unless the object names one");
  addExamples(explaining, [
    "admission explain -f pod.yaml -n shop",
    "admission explain -f service.yaml --operation update --as ann",
    "admission explain -f pod.yaml --all",
  ]);
  return addServerOptions(explaining).addOption(outputOption());
}

async function explainRequest(options: ExplainOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const { operation } = options;
  const user = requestedUser(options);
  const object = readDocument(options.filename);
  if (!isObject(object)) throw new Error(`${options.filename} has no object`);
  return withClient(options, env, async (client) => {
    const namespace = options.namespace ?? client.namespace;
    const explanation = await explain(client, object, {
      operation,
      namespace,
      user: user?.name,
      groups: user?.groups ?? [],
    });
    output.out(
      options.output === "json"
        ? `${JSON.stringify(explanation, undefined, 2)}\n`
        : formatText(explanation, { all: options.all === true }),
    );
    return explanation.response.status < 300 ? exitAllowed : exitRejected;
  });
}
