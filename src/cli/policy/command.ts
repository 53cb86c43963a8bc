/**
 * `coxswain policy`: tests admission policies. It does not load the server, so that it starts
 * quickly.
 */
import type { Command } from "commander";
import type { Output } from "../output.ts";
import { collect, type Run, runSubcommands } from "../subcommands.ts";
import { formatResults, resultsJson } from "./format-results.ts";
import { type TestOptions, testPolicies } from "./test-policies.ts";

/** A policy rejects the request, or an expression failed. */
const exitRejected = 1;

const group = {
  name: "coxswain policy",
  description: "Tests admission policies without a server.",
  exitCodes:
    "0 no policy rejects the request, 1 a policy does or an expression fails, 2 the command line or a file is invalid",
};

/** Runs `coxswain policy`. @param argv the arguments after `policy` @returns the exit code */
export async function policyCommand(argv: readonly string[], output: Output): Promise<number> {
  return runSubcommands(group, argv, output, addTest);
}

function addTest(command: Command, run: Run): void {
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
    .action((files: string[], options: TestOptions & { readonly json?: true }) =>
      run((output) => {
        const results = testPolicies(files, options);
        output.out(options.json === true ? resultsJson(results) : formatResults(results));
        return results.some(({ verdict }) => ["denied", "failed"].includes(verdict.outcome)) ? exitRejected : 0;
      }),
    );
}
