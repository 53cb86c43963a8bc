/** `coxswain pod-security`: checks pods against Pod Security Standards. */

import { type Command, Option } from "commander";
import { evaluatePod } from "../../lib/pod-security/evaluate.ts";
import { type Level, type LevelVersion, levels, parseVersion, versionProblem } from "../../lib/pod-security/levels.ts";
import { addNamespaceOption, type NamespaceOption } from "../client/request-options.ts";
import { addServerOptions, type ServerOptions, withClient } from "../client/with-client.ts";
import { exitFailed } from "../exit-codes.ts";
import { FlagError } from "../flags/contract.ts";
import type { Output } from "../output.ts";
import { addExamples, collect, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";
import { formatJson, formatText } from "./format.ts";
import { listObjects } from "./list-objects.ts";
import { type CheckedObject, readObjects } from "./read-objects.ts";

const exitAllowed = 0;
const exitViolations = 1;

interface CheckOptions extends ServerOptions, NamespaceOption {
  readonly filename?: readonly string[];
  readonly level: Level;
  readonly version: string;
  readonly output: OutputFormat;
}

/** The command `coxswain pod-security`. */
export const podSecurityCommand = defineSubcommand({
  name: "coxswain pod-security",
  description: "Checks pods and pod controllers against Pod Security Standards.",
  exitCodes: [
    [exitAllowed, "all objects are allowed"],
    [exitViolations, "an object violates the standard"],
    [exitFailed, "the command line or an input is invalid"],
  ],
  add(command, run) {
    addCheck(command).action(async (options: CheckOptions) => run((output, env) => check(options, output, env)));
  },
});

function addCheck(command: Command): Command {
  const checking = command
    .command("check")
    .summary("lists the violations of a standard before a namespace enforces it")
    .description(
      "Checks the pods and pod controllers in files without a server, or those of a namespace on a server, and prints each violated check with its fields and what it allows there. Labels and exemptions of namespaces have no effect. On a server you need the rights to list pods and pod controllers. ReplicaSets of a Deployment and Jobs of a CronJob are not listed: new pods are created from the template of the Deployment or CronJob.",
    )
    .option("-f, --filename <file>", "a file in YAML or JSON; - for the standard input (repeatable)", collect)
    .addOption(new Option("--level <level>", "the standard").choices(levels).makeOptionMandatory())
    .option("--version <version>", "the version of the standard: latest, or v1.x", "latest");
  addNamespaceOption(checking, "checks the pods and pod controllers of this namespace on the server");
  addExamples(checking, [
    "pod-security check -f pods.yaml --level restricted",
    "pod-security check -n shop --level baseline --version v1.36",
  ]);
  return addServerOptions(checking).addOption(outputOption());
}

async function check(options: CheckOptions, output: Output, env: NodeJS.ProcessEnv): Promise<number> {
  const version = parseVersion(options.version);
  if (version === undefined) throw new FlagError(`--version ${versionProblem}`);
  const standard: LevelVersion = { level: options.level, version };
  const objects = await objectsOf(options, env);
  const results = objects.map((object) => ({
    object,
    failed: object.pod === undefined ? [] : evaluatePod(standard, object.pod),
  }));
  output.out((options.output === "json" ? formatJson : formatText)(results, standard));
  return results.some(({ failed }) => failed.length > 0) ? exitViolations : exitAllowed;
}

/** A namespace can be empty, but a file without pods is most likely the wrong file. */
async function objectsOf(options: CheckOptions, env: NodeJS.ProcessEnv): Promise<CheckedObject[]> {
  const { filename: files, namespace } = options;
  if ((files === undefined) === (namespace === undefined)) throw new FlagError("either -f or -n is required");
  if (namespace !== undefined) return withClient(options, env, (client) => listObjects(client, namespace));
  const objects = (files ?? []).flatMap(readObjects);
  if (objects.length === 0) throw new Error(`${files?.join(", ")}: no pods and no pod controllers`);
  return objects;
}
