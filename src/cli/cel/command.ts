/**
 * `coxswain cel`: evaluates and checks CEL expressions. It does not load the server, so that it
 * starts quickly.
 */
import type { Command } from "commander";
import type { Output } from "../output.ts";
import { type Run, runSubcommands } from "../subcommands.ts";
import { checkFiles } from "./check.ts";
import { type EvalOptions, evaluateExpression } from "./eval.ts";

const group = {
  name: "coxswain cel",
  description: "Evaluates and checks CEL expressions as a Kubernetes 1.36 API server does.",
  exitCodes:
    "0 no errors, 1 an expression is invalid or its evaluation failed, 2 the command line or a file is invalid",
};

/** Runs `coxswain cel`. @param argv the arguments after `cel` @returns the exit code */
export async function celCommand(argv: readonly string[], output: Output): Promise<number> {
  return runSubcommands(group, argv, output, (command, run) => {
    addEval(command, run);
    addCheck(command, run);
  });
}

function addEval(command: Command, run: Run): void {
  command
    .command("eval")
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
    .option("--json", "print JSON")
    .action((options: EvalOptions) => run((output) => evaluateExpression(options, output)));
}

function addCheck(command: Command, run: Run): void {
  command
    .command("check")
    .description(
      "Checks all expressions of CustomResourceDefinitions, ValidatingAdmissionPolicies and MutatingAdmissionPolicies.",
    )
    .argument("<file...>", "YAML with any number of documents, or JSON; other kinds are ignored")
    .option("--json", "print JSON")
    .action((files: string[], options: { json?: true }) => run((output) => checkFiles(files, options, output)));
}
