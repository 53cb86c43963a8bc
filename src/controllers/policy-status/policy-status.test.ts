/**
 * The warnings are those of the cases in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/typechecking_test.go.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { until } from "../../../test/support/until.ts";
import { policyTypeChecker } from "../../cel-environment/policy-type-checker.ts";
import { policyStatusController } from "./policy-status.ts";

const policies: Place = ["admissionregistration.k8s.io/validatingadmissionpolicies", ""];
const logger = { info() {}, warn: assert.fail, error: assert.fail };

const cluster = await openMemoryRegistry();
const controller = policyStatusController({
  registry: cluster.registry,
  logger,
  loadChecker: async () => policyTypeChecker,
});
controller.start();
after(async () => {
  await controller.stop();
  await cluster.close();
});

/** Runs the event loop until the policy has a status. */
async function statusOf(name: string, generation = 1): Promise<unknown> {
  return until(async () => {
    const status = (await cluster.find(policies, name))?.status;
    return status?.observedGeneration === generation && status;
  });
}

const deployments = { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] };
const pods = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods", "pods/status"] };

interface Row {
  readonly what: string;
  readonly rules?: readonly object[];
  readonly spec?: object;
  readonly expressions: readonly (string | readonly [expression: string, messageExpression: string])[];
  /** The field and a part of the warning; `^` begins the whole warning. */
  readonly warnings: readonly (readonly [fieldRef: string, warning: RegExp])[];
}

const first = "spec.validations[0].expression";
const foo =
  /^apps\/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'foo'\n \| object\.foo\n \| \.\.\.\.\.\.\^\n$/;
const rows: readonly Row[] = [
  { what: "valid fields", expressions: ["object.spec.replicas > 1"], warnings: [] },
  { what: "an undefined field", expressions: ["object.foo"], warnings: [[first, foo]] },
  {
    what: "a wrong type",
    expressions: ["object.spec.replicas == '1'"],
    warnings: [[first, /found no matching overload for '_==_' applied to '\(int, string\)'/]],
  },
  {
    what: "several kinds, sorted",
    rules: [deployments, pods],
    expressions: ["object.spec.x == 1"],
    warnings: [
      [first, /^\/v1, Kind=Pod: .*undefined field 'x'.*\n\napps\/v1, Kind=Deployment: .*undefined field 'x'/s],
    ],
  },
  {
    what: "rules with wildcards",
    rules: [{ ...deployments, resources: ["*"] }],
    expressions: ["object.foo"],
    warnings: [],
  },
  {
    what: "an unknown kind",
    rules: [{ ...deployments, resources: ["none"] }],
    expressions: ["object.foo"],
    warnings: [],
  },
  {
    what: "the second expression and its message",
    expressions: ["object.spec.replicas > 1", ["object.foo", "object.bar"]],
    warnings: [
      ["spec.validations[1].expression", foo],
      ["spec.validations[1].messageExpression", /undefined field 'bar'/],
    ],
  },
  {
    what: "the authorizer",
    expressions: ["authorizer.path('/x').check('get').allowed()", "authorizer.allowed()"],
    warnings: [
      [
        "spec.validations[1].expression",
        /found no matching overload for 'allowed' applied to 'kubernetes\.authorization\.Authorizer/,
      ],
    ],
  },
  {
    what: "variables",
    spec: { variables: [{ name: "name", expression: "object.metadata.name" }] },
    expressions: ["variables.name == 2", "variables.none == 2"],
    warnings: [
      [first, /found no matching overload for '_==_' applied to '\(string, int\)'/],
      ["spec.validations[1].expression", /undefined field 'none'/],
    ],
  },
  {
    what: "parameters",
    spec: { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
    expressions: ["params.data.x == '1'", "params.spec == 1"],
    warnings: [["spec.validations[1].expression", /undefined field 'spec'/]],
  },
  {
    what: "parameters of an unknown kind",
    spec: { paramKind: { apiVersion: "example.com/v1", kind: "None" } },
    expressions: ["params.spec == 1"],
    warnings: [],
  },
];

for (const [index, { what, rules = [deployments], spec, expressions, warnings }] of rows.entries()) {
  test(`the status of a policy: ${what}`, async () => {
    const name = `policy-${index}`;
    const validations = expressions.map((each) =>
      typeof each === "string" ? { expression: each } : { expression: each[0], messageExpression: each[1] },
    );
    const resourceRules = rules.map((rule) => ({ ...rule, operations: ["*"], scope: "*" }));
    const matchConstraints = { resourceRules, matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };
    await cluster.create(policies, {
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: { failurePolicy: "Fail", matchConstraints, validations, ...spec },
    });
    // biome-ignore lint/suspicious/noExplicitAny: a decoded status.
    const status = (await statusOf(name)) as any;
    const found: { fieldRef: string; warning: string }[] = status.typeChecking.expressionWarnings ?? [];
    assert.deepEqual(
      found.map(({ fieldRef }) => fieldRef),
      warnings.map(([fieldRef]) => fieldRef),
    );
    for (const [at, [, pattern]] of warnings.entries()) assert.match(found[at]?.warning ?? "", pattern);
  });
}

test("a changed policy is checked again, and the status has an owner", async () => {
  await cluster.change(policies, "policy-1", (object) => {
    object.spec.validations = [{ expression: "object.spec.replicas > 1" }];
  });
  assert.deepEqual(await statusOf("policy-1", 2), { observedGeneration: 2, typeChecking: {} });
  const managers = (await cluster.find(policies, "policy-1"))?.metadata.managedFields ?? [];
  assert.ok(
    managers.some(
      ({ manager, operation, subresource }) =>
        manager === "validatingadmissionpolicy-status-controller" && operation === "Apply" && subresource === "status",
    ),
  );
});
