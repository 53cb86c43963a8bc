/**
 * `coxswain policy`: tests admission policies. It does not load the server, so that it starts
 * quickly.
 */
import { Command, CommanderError } from "commander";
import { InputError } from "../cel/documents.ts";
import type { Output } from "../output.ts";
import { formatResults, resultsJson } from "./format-results.ts";
import { type TestOptions, testPolicies } from "./test-policies.ts";

/** A policy rejects the request, or an expression failed. */
const exitRejected = 1;
/** The command line or an input file is invalid. */
const exitUsage = 2;

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** Runs `coxswain policy`. @param argv the arguments after `policy` @returns the exit code */
export function policyCommand(argv: readonly string[], output: Output): number {
  let code = 0;
  const command = new Command("coxswain policy")
    .description("Tests admission policies without a server.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
  command
    .command("test")
    .description(
      "Evaluates policies for one request and prints, for each expression, its value, cost and error, and why a policy does not match.",
    )
    .argument(
      "<policy...>",
      "files with ValidatingAdmissionPolicies and MutatingAdmissionPolicies; other kinds are ignored",
    )
    .option("--binding <file>", "bindings; without any, each policy is tested as if it was bound (repeatable)", collect)
    .option("--object <file>", "the object that is written; without it, the request deletes the old object")
    .option("--old <file>", "the object before the request; without it, the request creates the object")
    .option("--params <file>", "the parameters of the policies")
    .option("--namespace <file>", "the namespace of the object, for selectors and namespaceObject")
    .option("--resource <name>", "the plural of a custom kind, if it is irregular")
    .option("--as <user>", "the user of the request", "system:admin")
    .option("--as-group <group>", "a group of the user (repeatable)", collect)
    .option("--authorized", "the authorizer allows every check of an expression; otherwise it allows none")
    .option("--json", "print JSON")
    .action((files: string[], options: TestOptions & { readonly json?: true }) => {
      const results = testPolicies(files, options);
      output.out(options.json === true ? resultsJson(results) : formatResults(results));
      if (results.some(({ verdict }) => ["denied", "failed"].includes(verdict.outcome))) code = exitRejected;
    });
  command.addHelpText(
    "after",
    "\nExit codes: 0 no policy rejects the request, 1 a policy does or an expression fails, 2 the command line or a file is invalid.",
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
