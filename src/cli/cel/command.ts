/**
 * `coxswain cel`: evaluates and checks CEL expressions. It does not load the server, so that it
 * starts quickly.
 */
import { type Command, Option } from "commander";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, collect, defineSubcommand, outputOption, type Run } from "../subcommands.ts";
import { type CheckOptions, checkFiles } from "./check.ts";
import { exitInvalid } from "./contract.ts";
import { type EvalOptions, evaluateExpression } from "./eval.ts";

/** The command `coxswain cel`. */
export const celCommand = defineSubcommand({
  name: "coxswain cel",
  description: "Evaluates and checks CEL expressions as a Kubernetes 1.36 API server does.",
  exitCodes: [
    [0, "no errors"],
    [exitInvalid, "an expression is invalid or its evaluation failed"],
    [exitFailed, "the command line or a file is invalid"],
  ],
  add(command, run) {
    addEval(command, run);
    addCheck(command, run);
  },
});

function addEval(command: Command, run: Run): void {
  const evaluating = command
    .command("eval")
    .summary("evaluates an expression")
    .description(
      "Evaluates an expression and prints its value, type, actual cost and estimated cost. `self` and `object` are the data, `oldSelf` and `oldObject` the old data.",
    )
    .requiredOption("--expr <expression>", "the expression")
    .option("--data <file>", "YAML or JSON file; null if unset")
    .option("--old-data <file>", "YAML or JSON file")
    .option(
      "--schema <file#path>",
      "the type of self and oldSelf: a CustomResourceDefinition and a path into its schema, such as crd.yaml#/spec/ports/items, or a schema and a path within it",
    )
    .addOption(outputOption())
    .addOption(new Option("--json", "the same as -o json").hideHelp())
    .action((options: EvalOptions) => run(async (output) => evaluateExpression(options, output)));
  addExamples(evaluating, [
    "cel eval --expr 'self.replicas <= self.maxReplicas' --data widget.yaml --schema crd.yaml#/spec",
  ]);
}

function addCheck(command: Command, run: Run): void {
  const checking = command
    .command("check")
    .summary("checks all expressions of files, or one of a kind")
    .description(
      "Checks all expressions of CustomResourceDefinitions, ValidatingAdmissionPolicies, MutatingAdmissionPolicies, and match conditions of webhooks. The validations of a ValidatingAdmissionPolicy are also checked against the schemas of the kinds that its rules name, with the server's messages: built-in kinds, and those of CustomResourceDefinitions in the files. As on the server, rules with wildcards name no kinds.",
    )
    .argument("[file...]", "YAML with any number of documents, or JSON; other kinds are ignored")
    .option("--expr <expression>", "checks this expression, with `object` of the --kind")
    .option(
      "--kind <kind>",
      "checks against this kind, such as Deployment or apps/v1/Deployment, instead of those of rules; may be repeated",
      collect,
      [],
    )
    .option("--resource <resource>", "the same by its resource, such as deployments.apps; may be repeated", collect, [])
    .addOption(outputOption())
    .addOption(new Option("--json", "the same as -o json").hideHelp())
    .action((files: string[], options: CheckOptions) => run(async (output) => checkFiles(files, options, output)));
  addExamples(checking, [
    "cel check crd.yaml policies.yaml",
    "cel check --kind Deployment --expr 'object.spec.replicas <= 5'",
    "cel check crd.yaml --kind Widget --expr 'object.spec.size > 1'",
  ]);
}
