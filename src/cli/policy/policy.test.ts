/** Output and exit codes of `coxswain policy test`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type RanCommand, runCommand } from "../../../test/support/run-command.ts";
import { policyCommand } from "./command.ts";

const testdata = join(import.meta.dirname, "testdata");
const file = (name: string): string => join(testdata, name);

async function run(...argv: string[]): Promise<RanCommand> {
  const { code, out, err } = await runCommand((output) => policyCommand.run(["test", ...argv], output, {}));
  return { code, out, err: err.replaceAll(`${testdata}/`, "") };
}

const deployment = ["--object", file("deployment.yaml"), "--params", file("params.yaml")];
const evaluated = `  matchConditions[0] (not-system)  true  (cost 6)
  variables[0] (max)  3  (cost 6)
  validations[0].expression  false  (cost 10)
  validations[1].expression  false  (cost 2)
  validations[0].messageExpression  "at most 3 replicas"  (cost 10)
  auditAnnotations[0].valueExpression  "5"  (cost 4)
`;
const denied = `${evaluated}  denied: at most 3 replicas: is not paused
`;
const podsUnmatched = 'does not match: matchConstraints.resourceRules[0]: apiGroups do not include "apps"';

const rows: [what: string, argv: string[], want: RanCommand][] = [
  [
    "policies without bindings",
    [file("policies.yaml"), ...deployment],
    {
      code: 1,
      out: `ValidatingAdmissionPolicy replicas\n${denied}\nValidatingAdmissionPolicy pods\n  ${podsUnmatched}\n`,
      err: "",
    },
  ],
  [
    "bindings",
    [file("policies.yaml"), "--binding", file("policies.yaml"), ...deployment],
    {
      code: 1,
      out: `ValidatingAdmissionPolicy replicas, binding replicas-everywhere
${denied}
ValidatingAdmissionPolicy replicas, binding replicas-red
  does not match: matchResources of the binding.namespaceSelector: the namespace blue does not have color=red

ValidatingAdmissionPolicy pods
  does not match: no binding names the policy
`,
      err: "",
    },
  ],
  [
    "a condition that is false for the user",
    [file("policies.yaml"), "--binding", file("policies.yaml"), ...deployment, "--as", "system:node:a"],
    {
      code: 0,
      out: `ValidatingAdmissionPolicy replicas, binding replicas-everywhere
  matchConditions[0] (not-system)  false  (cost 6)
  does not match: matchConditions[0] (not-system) is false

ValidatingAdmissionPolicy replicas, binding replicas-red
  does not match: matchResources of the binding.namespaceSelector: the namespace blue does not have color=red

ValidatingAdmissionPolicy pods
  does not match: no binding names the policy
`,
      err: "",
    },
  ],
  [
    "mutations, each of which reads the result of the one before",
    [file("mutating.yaml"), "--object", file("deployment.yaml")],
    {
      code: 1,
      out: `MutatingAdmissionPolicy label
  mutations[0].applyConfiguration  {"metadata":{"labels":{"team":"blue"}}}  (cost 113)
  mutations[1].jsonPatch  [{"op":"remove","path":"/spec/replicas"}]  (cost 50)
  mutations[2].applyConfiguration  {"spec":{"nope":1}}  (cost 80)
  mutations[2].applyConfiguration  error: error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema  (cost 80)
  object  {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"blue","labels":{"team":"blue"}},"spec":{}}
  failed: error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema
`,
      err: "",
    },
  ],
  [
    "a custom kind",
    [file("policies.yaml"), "--object", file("widget.yaml")],
    {
      code: 0,
      out: `ValidatingAdmissionPolicy replicas
  does not match: matchConstraints.resourceRules[0]: apiGroups do not include "example.com"

ValidatingAdmissionPolicy pods
  does not match: matchConstraints.resourceRules[0]: apiGroups do not include "example.com"
`,
      err: "",
    },
  ],
  [
    "no object",
    [file("policies.yaml")],
    {
      code: 2,
      out: "",
      err: "Error: --object or --old is required\nRun coxswain policy test --help for its options.\n",
    },
  ],
  [
    "a file without policies",
    [file("widget.yaml"), "--object", file("widget.yaml")],
    { code: 2, out: "", err: "Error: widget.yaml: no policies\n" },
  ],
];

test("policy test: several objects, old objects, namespaces and parameters in one file each", async () => {
  const { code, out, err } = await run(
    ...[file("policies.yaml"), "--binding", file("several-bindings.yaml"), "--object", file("several.yaml")],
    ...["--old", file("several-old.yaml"), "--namespace", file("several-namespaces.yaml")],
    ...["--params", file("several-params.yaml")],
  );
  assert.deepEqual([code, err], [1, ""]);
  const lines = out.split("\n").filter((line) => /^\S|denied|allowed|namespaceSelector/.test(line));
  assert.deepEqual(lines, [
    "UPDATE Deployment blue/web:",
    "ValidatingAdmissionPolicy replicas, binding red",
    "  does not match: matchResources of the binding.namespaceSelector: the namespace blue does not have color=red",
    "ValidatingAdmissionPolicy pods",
    "UPDATE Deployment red/web:",
    "ValidatingAdmissionPolicy replicas, binding red, parameters few",
    "  denied: at most 3 replicas",
    "ValidatingAdmissionPolicy replicas, binding red, parameters many",
    "  allowed",
    "ValidatingAdmissionPolicy pods",
  ]);
});

test("policy test: an object without an old one is an error", async () => {
  const { code, err } = await run(
    ...[file("policies.yaml"), "--object", file("several.yaml"), "--old", file("deployment.yaml")],
  );
  assert.deepEqual([code, err], [2, "Error: --old has no Deployment/red/web\n"]);
});

for (const [what, argv, want] of rows)
  test(`policy test: ${what}`, async () => assert.deepEqual(await run(...argv), want));

test("policy test --json prints a list", async () => {
  const { out } = await run(file("policies.yaml"), ...deployment, "--json");
  const [replicas, pods] = JSON.parse(out);
  assert.deepEqual(replicas.messages, ["at most 3 replicas", "is not paused"]);
  assert.deepEqual(replicas.expressions[2], { field: "validations[0].expression", value: false, cost: 10 });
  assert.equal(pods.outcome, "unmatched");
});
