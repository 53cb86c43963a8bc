/** `coxswain auth`: explains why a user is or is not allowed to do something. */
import type { Command } from "commander";
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
import { explain } from "./explain.ts";
import { isAllowed } from "./explanation.ts";
import { formatJson, formatText } from "./format.ts";
import { userNamed } from "./question.ts";

const exitAllowed = 0;
const exitDenied = 1;

interface ExplainOptions extends ServerOptions, UserOptions, NamespaceOption {
  readonly allNamespaces?: true;
  readonly fieldSelector?: string;
  readonly selector?: string;
  readonly output: OutputFormat;
}

/** The command `coxswain auth`. */
export const authCommand = defineSubcommand({
  name: "coxswain auth",
  description: "Queries the access rights of users on a running server: Coxswain, or any other Kubernetes API server.",
  exitCodes: [
    [exitAllowed, "allowed"],
    [exitDenied, "not allowed"],
    [exitFailed, "the command line is invalid or the server could not be queried"],
  ],
  add(command, run) {
    addExplain(command).action(
      async (verb: string, resource: string, name: string | undefined, options: ExplainOptions) =>
        run((output, env) => explainRights({ verb, resource, name: name ?? "" }, options, output, env)),
    );
  },
});

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
    .option("-A, --all-namespaces", "explains a request for all namespaces")
    .option("--field-selector <selector>", "explains a list request with this field selector, such as spec.nodeName=n1")
    .option("-l, --selector <selector>", "explains a list request with this label selector");
  addUserOptions(explaining, {
    user: "the user to explain; if unset, the user of the kubeconfig",
    group:
      "a group of the user; may be repeated. system:authenticated is added, as are the groups of a service account",
  });
  addNamespaceOption(explaining);
  addExamples(explaining, [
    "auth explain --as ann --as-group dev delete pods/log mine -n shop",
    "auth explain --as system:anonymous get /healthz",
  ]);
  return addServerOptions(explaining).addOption(outputOption());
}

async function explainRights(
  target: { readonly verb: string; readonly resource: string; readonly name: string },
  options: ExplainOptions,
  output: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { fieldSelector = "", selector: labelSelector = "" } = options;
  const requested = requestedUser(options);
  return withClient(options, env, async (client) => {
    const namespace = options.allNamespaces === true ? "" : (options.namespace ?? client.namespace);
    const user = requested && userNamed(requested.name, requested.groups);
    const explanation = await explain(client, { ...target, namespace, fieldSelector, labelSelector }, user);
    output.out(options.output === "json" ? formatJson(explanation) : formatText(explanation));
    return isAllowed(explanation) ? exitAllowed : exitDenied;
  });
}
