/**
 * `coxswain cel`: evaluates and checks CEL expressions. It does not load the server, so that it
 * starts quickly.
 */
import { Command, CommanderError } from "commander";
import type { Output } from "../output.ts";
import { checkFiles } from "./check.ts";
import { InputError } from "./documents.ts";
import { type EvalOptions, evaluateExpression } from "./eval.ts";
import { exitUsage } from "./exit-codes.ts";

/** Runs `coxswain cel`. @param argv the arguments after `cel` @returns the exit code */
export function celCommand(argv: readonly string[], output: Output): number {
  let code = 0;
  const command = new Command("coxswain cel")
    .description("Evaluates and checks CEL expressions as a Kubernetes 1.36 API server does.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
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
    .action((options: EvalOptions) => {
      code = evaluateExpression(options, output);
    });
  command
    .command("check")
    .description(
      "Checks all expressions of CustomResourceDefinitions, ValidatingAdmissionPolicies and MutatingAdmissionPolicies.",
    )
    .argument("<file...>", "YAML with any number of documents, or JSON; other kinds are ignored")
    .option("--json", "print JSON")
    .action((files: string[], options: { json?: true }) => {
      code = checkFiles(files, options, output);
    });
  command.addHelpText(
    "after",
    "\nExit codes: 0 no errors, 1 an expression is invalid or its evaluation failed, 2 the command line or a file is invalid.",
  );
  try {
    command.parse(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage;
    if (!(error instanceof InputError)) throw error;
    output.err(`Error: ${error.message}\n`);
    return exitUsage;
  }
  return code;
}
