/** `coxswain auth`: why somebody may do something, or may not. */
import { Command, CommanderError, Option } from "commander";
import { openClient } from "../client/client.ts";
import { findKubeconfig } from "../client/find-kubeconfig.ts";
import { explain } from "./explain.ts";
import { isAllowed } from "./explanation.ts";
import { formatJson, formatText } from "./format.ts";
import { userNamed } from "./question.ts";

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const exitAllowed = 0;
const exitDenied = 1;
/** The command line is not understood, or the server could not be asked. */
export const exitFailed = 2;

interface ExplainOptions {
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly fieldSelector?: string;
  readonly selector?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: "text" | "json";
}

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** @param argv after `auth` @param env where KUBECONFIG is looked up @returns the exit code */
export async function authCommand(argv: readonly string[], output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  let code = exitAllowed;
  const command = new Command("coxswain auth")
    .description("Asks a running server, this one or any other that speaks Kubernetes' API, about rights.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
  command
    .command("explain")
    .summary("why somebody may do something, or may not")
    .description(
      "Says whether somebody may do something, which authorizer decided it and, for RBAC, by which binding, role and rule; or what comes closest. The kubeconfig's user must be allowed to create subjectaccessreviews, or to list roles and bindings.",
    )
    .argument("<verb>", "get, list, create, impersonate …; of a path, the method in lower case")
    .argument("<resource>", "a resource with its subresource (pods, deployments.apps/scale, po), or a path (/healthz)")
    .argument("[name]", "of the object")
    .option("--as <user>", "who wants to; if unset, whoever the kubeconfig says we are")
    .option(
      "--as-group <group>",
      "a group the user is in; may be repeated. system:authenticated is added, and a service account's own groups",
      collect,
    )
    .option("-n, --namespace <namespace>", "if unset, that of the kubeconfig's context")
    .option("-A, --all-namespaces", "asks about all namespaces at once")
    .option("--field-selector <selector>", "asks about a list with this selector, such as spec.nodeName=n1")
    .option("-l, --selector <selector>", "asks about a list with this label selector")
    .option("--kubeconfig <file>", "if unset, those of KUBECONFIG, or ~/.kube/config")
    .option("--context <name>", "in place of the kubeconfig's current context")
    .addOption(new Option("-o, --output <format>", "the form of the answer").choices(["text", "json"]).default("text"))
    .addHelpText(
      "after",
      "\nExamples:\n  coxswain auth explain --as ann --as-group dev delete pods/log mine -n shop\n  coxswain auth explain --as system:anonymous get /healthz",
    )
    .action(async (verb: string, resource: string, name: string | undefined, options: ExplainOptions) => {
      code = await run({ verb, resource, name: name ?? "" }, options, output, env);
    });
  command.addHelpText(
    "after",
    "\nExit codes: 0 allowed, 1 not allowed, 2 the command line is not understood or the server could not be asked.",
  );
  try {
    await command.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitAllowed : exitFailed;
    output.err(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitFailed;
  }
  return code;
}

async function run(
  asked: { readonly verb: string; readonly resource: string; readonly name: string },
  options: ExplainOptions,
  output: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { asGroup = [], fieldSelector = "", selector: labelSelector = "" } = options;
  if (options.as === undefined && asGroup.length > 0) throw new Error("--as-group needs --as");
  const surroundings = { env, stdinIsTerminal: process.stdin.isTTY === true, now: Date.now };
  const client = await openClient(await findKubeconfig(options.kubeconfig, env), {
    context: options.context,
    surroundings,
  });
  try {
    const namespace = options.allNamespaces === true ? "" : (options.namespace ?? client.namespace);
    const user = options.as === undefined ? undefined : userNamed(options.as, asGroup);
    const explanation = await explain(client, { ...asked, namespace, fieldSelector, labelSelector }, user);
    output.out(options.output === "json" ? formatJson(explanation) : formatText(explanation));
    return isAllowed(explanation) ? exitAllowed : exitDenied;
  } finally {
    client.close();
  }
}
