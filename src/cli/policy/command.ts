/**
 * `coxswain policy`: tests admission policies. It does not load the server, so that it starts
 * quickly.
 */
import type { Command } from "commander";
import { addUserOptions } from "../client/request-options.ts";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, collect, defineSubcommand, type Run } from "../subcommands.ts";
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
    .summary("evaluates policies for one request")
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
    .option("--authorized", "the authorizer allows every check of an expression; otherwise it allows none")
    .option("--json", "print JSON")
    .action((files: string[], options: TestOptions & { readonly json?: true }) =>
      run(async (output) => {
        const results = testPolicies(files, options);
        output.out(options.json === true ? resultsJson(results) : formatResults(results));
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
