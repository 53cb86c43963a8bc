/** `coxswain auth`: explains why a user is or is not allowed to do something. */
import type { Command } from "commander";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import type { Output } from "../output.ts";
import { collect, type OutputFormat, outputOption, runSubcommands } from "../subcommands.ts";
import { explain } from "./explain.ts";
import { isAllowed } from "./explanation.ts";
import { formatJson, formatText } from "./format.ts";
import { userNamed } from "./question.ts";

const exitAllowed = 0;
const exitDenied = 1;

interface ExplainOptions extends ServerOptions {
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly fieldSelector?: string;
  readonly selector?: string;
  readonly output: OutputFormat;
}

const group = {
  name: "coxswain auth",
  description: "Queries the access rights of users on a running server: Coxswain, or any other Kubernetes API server.",
  exitCodes: "0 allowed, 1 not allowed, 2 the command line is invalid or the server could not be queried",
};

/**
 * Runs `coxswain auth`.
 *
 * @param argv the arguments after `auth`
 * @param env the environment, for KUBECONFIG and for credential plugins
 * @returns the exit code
 */
export async function authCommand(argv: readonly string[], output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  return runSubcommands(group, argv, output, (command, run) => {
    addExplain(command).action(
      async (verb: string, resource: string, name: string | undefined, options: ExplainOptions) =>
        run(() => explainRights({ verb, resource, name: name ?? "" }, options, output, env)),
    );
  });
}

function addExplain(command: Command): Command {
  const explaining = command
    .command("explain")
    .summary("explains why a user is or is not allowed to do something")
    .description(
      "Reports whether a user is allowed to do something, which authorizer decided it and, for RBAC, which binding, role and rule allow it or come closest. The user of the kubeconfig needs permission to create subjectaccessreviews, or to list roles and bindings.",
    )
    .argument("<verb>", "get, list, create, impersonate …; for a path, the HTTP method in lower case")
    .argument("<resource>", "a resource with its subresource (pods, deployments.apps/scale, po), or a path (/healthz)")
    .argument("[name]", "the name of the object")
    .option("--as <user>", "the user to explain; if unset, the user of the kubeconfig")
    .option(
      "--as-group <group>",
      "a group of the user; may be repeated. system:authenticated is added, as are the groups of a service account",
      collect,
    )
    .option("-n, --namespace <namespace>", "the namespace; if unset, that of the kubeconfig's context")
    .option("-A, --all-namespaces", "explains a request for all namespaces")
    .option("--field-selector <selector>", "explains a list request with this field selector, such as spec.nodeName=n1")
    .option("-l, --selector <selector>", "explains a list request with this label selector")
    .addHelpText(
      "after",
      "\nExamples:\n  coxswain auth explain --as ann --as-group dev delete pods/log mine -n shop\n  coxswain auth explain --as system:anonymous get /healthz",
    );
  return addServerOptions(explaining).addOption(outputOption());
}

async function explainRights(
  target: { readonly verb: string; readonly resource: string; readonly name: string },
  options: ExplainOptions,
  output: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { asGroup = [], fieldSelector = "", selector: labelSelector = "" } = options;
  if (options.as === undefined && asGroup.length > 0) throw new Error("--as-group needs --as");
  return withClient(options, env, async (client) => {
    const namespace = options.allNamespaces === true ? "" : (options.namespace ?? client.namespace);
    const user = options.as === undefined ? undefined : userNamed(options.as, asGroup);
    const explanation = await explain(client, { ...target, namespace, fieldSelector, labelSelector }, user);
    output.out(options.output === "json" ? formatJson(explanation) : formatText(explanation));
    return isAllowed(explanation) ? exitAllowed : exitDenied;
  });
}
