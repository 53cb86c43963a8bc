/** `coxswain cel`: tries out and checks expressions, for people who write rules. It knows nothing of the server, so that it starts at once. */
import { Command, CommanderError } from "commander";
import { checkFiles } from "./check.ts";
import { InputError } from "./documents.ts";
import { type EvalOptions, evaluateExpression } from "./eval.ts";
import type { Output } from "./output.ts";

/** The command line, or a file it names, is not understood. */
export const exitUsage = 2;

/** @param argv after `cel` @returns the exit code */
export function celCommand(argv: readonly string[], output: Output): number {
  let code = 0;
  const command = new Command("coxswain cel")
    .description("Tries out and checks expressions in CEL, as an API server of Kubernetes 1.36 would.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
  command
    .command("eval")
    .description(
      "Evaluates an expression: its value, type, actual cost and estimated cost. `self` and `object` are the data, `oldSelf` and `oldObject` the old data.",
    )
    .requiredOption("--expr <expression>", "what to evaluate")
    .option("--data <file>", "YAML or JSON; null when left out")
    .option("--old-data <file>", "YAML or JSON")
    .option(
      "--schema <file#path>",
      "gives self and oldSelf their types: a CustomResourceDefinition and a path into its schema, such as crd.yaml#/spec/ports/items, or a schema and a path within it",
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
    .argument("<file...>", "YAML with any number of documents, or JSON; other kinds are passed over")
    .option("--json", "print JSON")
    .action((files: string[], options: { json?: true }) => {
      code = checkFiles(files, options, output);
    });
  command.addHelpText(
    "after",
    "\nExit codes: 0 all is well, 1 an expression is wrong or has no value, 2 the command line or a file is not understood.",
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
