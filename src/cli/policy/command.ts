/**
 * `coxswain policy`: tests admission policies. It does not load the server, so that it starts
 * quickly.
 */
import { type Command, Option } from "commander";
import { addUserOptions } from "../client/request-options.ts";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, collect, defineSubcommand, type OutputFormat, outputOption, type Run } from "../subcommands.ts";
import { formatResults, resultsJson } from "./format-results.ts";
import { type TestOptions, testPolicies } from "./test-policies.ts";

/** A policy rejects the request, or an expression failed. */
const exitRejected = 1;

/** The command `coxswain policy`. */
export const policyCommand = defineSubcommand({
  name: "coxswain policy",
  description: "Tests admission policies without a server.",
  exitCodes: [
    [0, "no policy rejects the request"],
    [exitRejected, "a policy does or an expression fails"],
    [exitFailed, "the command line or a file is invalid"],
  ],
  add: addTest,
});

function addTest(command: Command, run: Run): void {
  const testing = command
    .command("test")
    .summary("evaluates policies for requests")
    .description(
      "Evaluates policies for the write of each object and prints, for each expression, its value, cost and error, and why a policy does not match. All files can have several documents.",
    )
    .argument(
      "<policy...>",
      "files with ValidatingAdmissionPolicies and MutatingAdmissionPolicies; other kinds are ignored",
    )
    .option("--binding <file>", "bindings; without any, each policy is tested as if it was bound (repeatable)", collect)
    .option(
      "--object <file>",
      "the objects that are written, a request each; without it, the requests delete the old objects",
    )
    .option("--old <file>", "the objects before the requests; without it, the requests create the objects")
    .option(
      "--params <file>",
      "the parameters of the policies; of several objects, those that the policy and its binding name",
    )
    .option("--namespace <file>", "the namespaces of the objects, for selectors and namespaceObject")
    .option("--resource <name>", "the plural of a custom kind, if it is irregular")
    .option("--authorized", "the authorizer allows every check of an expression; otherwise it allows none")
    .addOption(outputOption())
    .addOption(new Option("--json", "the same as -o json").hideHelp())
    .action((files: string[], options: TestOptions & { readonly output: OutputFormat; readonly json?: true }) =>
      run(async (output) => {
        const results = testPolicies(files, options);
        const isJson = options.json === true || options.output === "json";
        output.out(isJson ? resultsJson(results) : formatResults(results));
        return results.some(({ verdict }) => ["denied", "failed"].includes(verdict.outcome)) ? exitRejected : 0;
      }),
    );
  addUserOptions(testing, {
    user: "the user of the request; if unset, system:admin",
    group: "a group of the user; may be repeated. If unset, system:authenticated",
  });
  addExamples(testing, [
    "policy test policies.yaml --object deployment.yaml",
    "policy test policies.yaml --binding bindings.yaml --object new.yaml --old old.yaml --as ann",
  ]);
}
